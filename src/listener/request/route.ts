import type { RouteInfo } from '../../contract/gate.js';
import type { CallRoute, HttpRuntime, Runtime } from '../../contract/runtime.js';
import type { Chain } from '../../gate-chain/chain.js';
import type { Placed } from '../../route/table.js';

interface Common extends Placed {
  readonly info: RouteInfo;
  readonly chain: Chain;
  /** HTTP methods that the route serves; undefined: any. */
  readonly methods: ReadonlySet<string> | undefined;
}

/** A route to an MCP runtime: POST, and for the legacy eras GET and DELETE. */
export interface McpRoute extends Common {
  readonly kind: 'mcp';
  readonly runtime: Runtime;
  /** Properties of the route that the runtime receives. */
  readonly call_route: CallRoute;
}

/** A prefix that belongs to a plain HTTP upstream; any method. */
export interface HttpRoute extends Common {
  readonly kind: 'http';
  readonly runtime: HttpRuntime;
  /** As in `CallRoute`. */
  readonly forward_identity_header: string | undefined;
}

/** A public path that a gate answers itself, such as an RFC 9728 document. */
export interface ServedRoute extends Common {
  readonly kind: 'served';
}

export type ListenerRoute = McpRoute | HttpRoute | ServedRoute;
