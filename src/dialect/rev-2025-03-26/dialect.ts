import { legacyDialect } from '../legacy.js';

/** MCP 2025-03-26: content only, no titles, no elicitation. */
export const REV_2025_03_26 = legacyDialect({
  revision: '2025-03-26',
  items: { title: false, icons: false, tool_annotations: true, structured: 'none' },
  links: false,
  bad_arguments: 'rpc_error',
  can_ask: (method) => method !== 'elicitation/create',
});
