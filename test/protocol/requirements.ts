import { BASE, TRANSPORTS, VERSIONING } from './requirements/base.js';
import { CANCELLATION, MRTR, PATTERNS, PROGRESS, SUBSCRIPTIONS } from './requirements/patterns.js';
import type { Requirement } from './requirements/requirement.js';
import { CACHING, COMPLETION, DISCOVER, LOGGING, PAGINATION, PROMPTS, RESOURCES, TOOLS } from './requirements/server.js';
import { STREAMABLE_HTTP } from './requirements/streamable-http.js';

/**
 * Every MUST and MUST NOT of MCP 2026-07-28 in the pages on transports (but stdio), the base, versioning, patterns and servers.
 * A test says what it holds by an id in its name, or by a line `// requirement: HTTP-12 BASE-06` above it.
 */
export const REQUIREMENTS: readonly Requirement[] = [
  ...STREAMABLE_HTTP,
  ...BASE,
  ...VERSIONING,
  ...TRANSPORTS,
  ...PATTERNS,
  ...CANCELLATION,
  ...MRTR,
  ...PROGRESS,
  ...SUBSCRIPTIONS,
  ...DISCOVER,
  ...TOOLS,
  ...RESOURCES,
  ...PROMPTS,
  ...CACHING,
  ...LOGGING,
  ...PAGINATION,
  ...COMPLETION,
];
