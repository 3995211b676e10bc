import type { Dialect, ItemFields } from './dialect.js';

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
