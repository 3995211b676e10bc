import type { Dialect, ItemFields } from './dialect.js';

/** Requests that a client may send; the same in every legacy revision. */
const METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
]);

/** MCP 2024-11-05: as 2025-03-26, without tool annotations. */
export const REV_2024_11_05 = legacyDialect({
  revision: '2024-11-05',
  items: { title: false, icons: false, tool_annotations: false, structured: 'none' },
  links: false,
  bad_arguments: 'rpc_error',
  can_ask: (method) => method !== 'elicitation/create',
});

/** MCP 2025-03-26: content only, no titles, no elicitation. */
export const REV_2025_03_26 = legacyDialect({
  revision: '2025-03-26',
  items: { title: false, icons: false, tool_annotations: true, structured: 'none' },
  links: false,
  bad_arguments: 'rpc_error',
  can_ask: (method) => method !== 'elicitation/create',
});

/** MCP 2025-06-18: titles, structured content, resource links and elicitation by form. */
export const REV_2025_06_18 = legacyDialect({
  revision: '2025-06-18',
  items: { title: true, icons: false, tool_annotations: true, structured: 'object' },
  links: true,
  bad_arguments: 'rpc_error',
  can_ask: (method, mode) => method !== 'elicitation/create' || mode === 'form',
});

/** MCP 2025-11-25: icons, elicitation by URL, and invalid arguments are reported to the model. */
export const REV_2025_11_25 = legacyDialect({
  revision: '2025-11-25',
  items: { title: true, icons: true, tool_annotations: true, structured: 'object' },
  links: true,
  bad_arguments: 'tool_error',
  can_ask: () => true,
});

/** What differs between the revisions that begin with `initialize`. */
export interface LegacyRevision {
  readonly revision: string;
  readonly items: ItemFields;
  readonly links: boolean;
  readonly bad_arguments: Dialect['bad_arguments'];
  readonly can_ask: Dialect['can_ask'];
}

/** A revision with a handshake: errors in HTTP 200, no `resultType`, no caching hints, -32002 for a resource that is not there. */
export function legacyDialect(revision: LegacyRevision): Dialect {
  return Object.freeze<Dialect>({
    ...revision,
    era: 'legacy',
    methods: METHODS,
    resource_not_found: -32002,
    asks: 'requests',
    status: () => 200,
    result: (members, meta) => {
      if (meta === undefined) return `{${members}}`;
      return `{${members === '' ? '' : `${members},`}"_meta":${JSON.stringify(meta)}}`;
    },
    hints: () => '',
  });
}
