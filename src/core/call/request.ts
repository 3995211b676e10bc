import type { JsonValue } from '../../contract/content.js';
import type { InputResponses } from '../../contract/handler.js';
import type { HeaderView } from '../../contract/head.js';
import type { Facts, Identity } from '../../contract/identity.js';
import type { ComponentView } from '../../contract/server.js';
import type { Dialect } from '../../dialect/dialect.js';
import type { LegacyClient } from '../client-seal.js';
import type { Guarded, ServerRuntime, WrappedHandlers } from '../define/server-runtime.js';
import type { StateSeal } from './state-seal.js';

/** What a client came back with (MCP 2026-07-28 MRTR). */
export interface InputRound {
  readonly responses: InputResponses | undefined;
  readonly state: JsonValue | undefined;
}

/** One admitted request, its params parsed. */
export interface CoreRequest {
  readonly dialect: Dialect;
  readonly method: string;
  /** `params.name`, or `params.uri`; undefined when the method acts on nothing. */
  readonly name: string | undefined;
  /** Raw JSON text. */
  readonly id: string;
  /** Raw JSON text of `params._meta.progressToken`. */
  readonly progress_token: string | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  /** The id of the request in logs. */
  readonly request_id: string;
  /** Config path of the route, for logs. */
  readonly route: string;
  readonly identity: Identity | undefined;
  /** Whose turn it is when calls wait: as of `callerKey`. */
  readonly caller: string;
  readonly facts: Facts;
  /** Where `Mcp-Param-*` is mirrored; undefined on a transport without headers. */
  readonly headers: HeaderView | undefined;
  /** It may become a task: what the handler asks is not told as a result. */
  readonly in_task?: boolean;
  /** Of the one client that a transport such as stdio has, or of the legacy client that came with a session id; undefined: nothing is known of the client. */
  readonly session: CoreSession | undefined;
}

/** What a legacy client has set for all that follows. */
export interface CoreSession {
  /** From which level on it gets log messages. */
  log_level: string;
  /** Undefined before the handshake. */
  client: LegacyClient | undefined;
}

/** What the core needs beside the server. */
export interface CoreEnvironment {
  readonly seal: StateSeal;
  readonly wrapped: WrappedHandlers;
  /** Told when scopes or the policy hid a component from a call: the caller was told that it does not exist. */
  hidden?(request: CoreRequest, component: ComponentView, why: 'scopes' | 'policy'): void;
  /** Tools become tasks here. */
  readonly tasks?: boolean;
  /** A handler, a policy or a source threw something that is no `ToolError` or `RpcError`. */
  crashed(request: CoreRequest, error: unknown): void;
}

/** True when the caller may use the component. If not, the environment learns why, and the answer says that the component does not exist. */
export function mayUse(server: ServerRuntime, component: Guarded, request: CoreRequest, env: CoreEnvironment): boolean {
  const why = whyHidden(server, component, request, env);
  if (why !== undefined) env.hidden?.(request, component.view, why);
  return why === undefined;
}

/** Why the caller does not see the component; undefined: it does. A policy that throws hides. */
export function whyHidden(
  server: ServerRuntime,
  { view, scopes }: Guarded,
  request: CoreRequest,
  env: CoreEnvironment,
): 'scopes' | 'policy' | undefined {
  const { identity } = request;
  if (scopes !== undefined && !scopes.every((scope) => identity?.scopes.has(scope) === true)) return 'scopes';
  if (server.policy === undefined) return undefined;
  try {
    return server.policy(identity, view) === true ? undefined : 'policy';
  } catch (error) {
    env.crashed(request, error);
    return 'policy';
  }
}
