import { legacyDialect } from '../legacy.js';

/** MCP 2025-06-18: titles, structured content, resource links and elicitation by form. */
export const REV_2025_06_18 = legacyDialect({
  revision: '2025-06-18',
  items: { title: true, icons: false, tool_annotations: true, structured: 'object' },
  links: true,
  bad_arguments: 'rpc_error',
  can_ask: (method, mode) => method !== 'elicitation/create' || mode === 'form',
});
