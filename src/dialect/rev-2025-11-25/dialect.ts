import { legacyDialect } from '../legacy.js';

/** MCP 2025-11-25: icons, elicitation by URL, and arguments that do not fit are told to the model. */
export const REV_2025_11_25 = legacyDialect({
  revision: '2025-11-25',
  items: { title: true, icons: true, tool_annotations: true, structured: 'object' },
  links: true,
  bad_arguments: 'tool_error',
  can_ask: () => true,
});
