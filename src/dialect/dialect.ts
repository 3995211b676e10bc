import type { Era } from '../contract/claims.js';
import type { Meta } from '../contract/content.js';
import type { Caching } from '../contract/server.js';

/**
 * One protocol revision as a server speaks it: data, and the few pure functions in which revisions differ. A method that is not in
 * `methods` does not exist. Chosen once for a request by `dialectOf`.
 */
export interface Dialect {
  readonly revision: string;
  readonly era: Era;
  /** Requests that the revision has, whether a server serves them or not. */
  readonly methods: ReadonlySet<string>;
  /** Which members of a listed component the revision knows. */
  readonly items: ItemFields;
  /** `resource_link` in content; without it a link is sent as its URI. */
  readonly links: boolean;
  /** Arguments that do not fit a tool's schema: a result that the model sees, or an error of the protocol. */
  readonly bad_arguments: 'tool_error' | 'rpc_error';
  /** JSON-RPC code for a resource that is not there. */
  readonly resource_not_found: -32602 | -32002;
  /** How a handler's questions reach the client: in the result, or as requests on the stream. */
  readonly asks: 'result' | 'requests';
  /** Whether the revision has what the question needs; a legacy client's own capabilities are not known here. */
  readonly can_ask: (method: string, mode: string | undefined) => boolean;
  /** HTTP status of a JSON-RPC error whose table row says `status`. */
  readonly status: (status: number) => number;
  /**
   * The JSON text of a result from its members' JSON text (without braces, may be empty). `meta` is a handler's own `_meta`;
   * `server_info` the JSON text of the server's name and version.
   */
  readonly result: (members: string, meta: Meta | undefined, server_info: string, type?: 'complete' | 'input_required') => string;
  /** JSON text of the caching hints, to go before other members; empty where the revision has none. */
  readonly hints: (caching: Required<Caching>) => string;
}

export interface ItemFields {
  /** `title` of components and arguments, `_meta` of components. */
  readonly title: boolean;
  readonly icons: boolean;
  /** `annotations` of tools. */
  readonly tool_annotations: boolean;
  /** Which `outputSchema` and `structuredContent` may be sent. */
  readonly structured: 'any' | 'object' | 'none';
}
