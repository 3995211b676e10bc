import { legacyDialect } from '../legacy.js';

/** MCP 2024-11-05: as 2025-03-26, without tool annotations. */
export const REV_2024_11_05 = legacyDialect({
  revision: '2024-11-05',
  items: { title: false, icons: false, tool_annotations: false, structured: 'none' },
  links: false,
  bad_arguments: 'rpc_error',
  can_ask: (method) => method !== 'elicitation/create',
});
