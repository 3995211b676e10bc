import type { Dialect } from './dialect.js';
import { REV_2024_11_05, REV_2025_03_26, REV_2025_06_18, REV_2025_11_25 } from './legacy.js';
import { REV_2026_07_28 } from './modern.js';

/** Every revision that a server speaks, newest first. */
export const DIALECTS: readonly Dialect[] = [REV_2026_07_28, REV_2025_11_25, REV_2025_06_18, REV_2025_03_26, REV_2024_11_05];

/** The dialect of an admitted request. Its revision was checked by `admitMessage`. */
export function dialectOf(revision: string): Dialect {
  return BY_REVISION.get(revision) ?? REV_2025_03_26;
}

/**
 * The revision that `initialize` answers: the one that was asked for, else the newest with a handshake (MCP 2025-11-25
 * Lifecycle, "Version Negotiation"). That includes 2024-11-05 over Streamable HTTP: some clients of that revision speak it.
 */
export function negotiate(requested: string | undefined): Dialect {
  const found = requested === undefined ? undefined : BY_REVISION.get(requested);
  if (found === undefined || found.era === 'modern') return REV_2025_11_25;
  return found;
}

const BY_REVISION: ReadonlyMap<string, Dialect> = new Map(DIALECTS.map((dialect) => [dialect.revision, dialect]));
