import { callerKey } from '../../contract/caller.js';
import type { Clock } from '../../contract/clock.js';
import type { Identity } from '../../contract/identity.js';
import type { Log } from '../../contract/log.js';
import type { Call, Exchange, Health, Runtime } from '../../contract/runtime.js';
import type { Telemetry } from '../../contract/telemetry.js';
import { GatewayError } from '../../errors/error.js';
import type { Executor, ExecutorLoad } from '../../executor/executor.js';
import { createRatedLog } from '../../transport/rated-log.js';
import type { ProxiedParts } from '../answer/answer.js';
import { POST_FIELDS, requestHeaders } from '../shared/request-headers.js';
import { createSessionSeal } from '../shared/session-seal.js';
import { createToolsLearner } from '../shared/tools-learner.js';
import { InProcessCall } from './in-process-call.js';

/** Who calls, in the shape that official SDK servers hand to their handlers (`extra.authInfo`). `token` is empty: the gateway keeps tokens to itself. */
export interface SdkAuth {
  readonly token: '';
  readonly clientId: string;
  readonly scopes: string[];
  /** Seconds since the epoch. */
  readonly expiresAt?: number;
  readonly extra: { readonly issuer: string; readonly principal: string; readonly facts: Readonly<Record<string, unknown>> };
}

/** Answers one HTTP request with a fresh server: callers never share an instance, so state cannot leak between them. */
export type SdkRespond = (request: Request, auth: SdkAuth | undefined) => Promise<Response>;

export interface SdkHostedOptions {
  /** Config name. */
  readonly name: string;
  readonly respond: SdkRespond;
  /** Ends what the module keeps, e.g. its open subscriptions. */
  readonly close: () => Promise<void>;
}

export interface SdkHostedDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Bounds the calls that run at once; the runtime's own, drained when it closes. */
  readonly executor: Executor;
}

export interface SdkHostedRuntime extends Runtime {
  readonly load: ExecutorLoad;
}

const MAX_EVENT_BYTES = 8_000_000;
const MAX_RESPONSE_BYTES = 268_435_456;
const SESSION_TTL_S = 60;

/**
 * The runtime that ends a route at an official SDK server in this process, in the revisions that the SDK has, without sessions.
 * The body goes in as the bytes that were judged, MCP header fields by allowlist; identity comes from the gates alone.
 */
export function createSdkHosted(options: SdkHostedOptions, deps: SdkHostedDeps): SdkHostedRuntime {
  const { log, clock, telemetry, executor } = deps;
  const parts: ProxiedParts = {
    name: options.name,
    clock,
    log: createRatedLog(log, clock),
    seal: createSessionSeal({ keys: undefined, ttl_s: SESSION_TTL_S, clock }),
    tools: createToolsLearner(telemetry, clock),
    eraDoubted: () => undefined,
    questionRefused: (method) => telemetry.questionRefused(options.name, method),
    max_event_bytes: MAX_EVENT_BYTES,
    max_response_bytes: MAX_RESPONSE_BYTES,
  };
  let health: Health = 'starting';
  return {
    name: options.name,
    kind: 'hosted',
    get health() {
      return health;
    },
    get load() {
      return executor.load;
    },
    async start() {
      health = 'ready';
    },
    handle(call, exchange) {
      if (call.kind === 'get_stream' || call.kind === 'session_end')
        return exchange.fail(new GatewayError('METHOD_NOT_ALLOWED', { headers: { allow: 'POST' } }));
      run(call, exchange, new InProcessCall(parts, call, exchange), options.respond, executor);
    },
    async close(deadline_ms) {
      health = 'stopped';
      await options.close();
      await executor.drain(deadline_ms);
    },
  };
}

/** Never dialled: SDK servers look at the path only. */
const URL_IN_PROCESS = 'http://localhost/mcp';

function run(call: Call, exchange: Exchange, inProcess: InProcessCall, respond: SdkRespond, executor: Executor): void {
  const { identity, head } = call;
  const submitted = executor.submit(
    async (token) => {
      token.onCancel(() => inProcess.abort());
      const list = [...POST_FIELDS, ...requestHeaders(call, undefined, undefined)];
      const headers = new Headers();
      for (let i = 0; i + 1 < list.length; i += 2) headers.append(list[i] as string, list[i + 1] as string);
      exchange.upstreamStarted();
      // A copy: the SDK may keep the request, and a body that was judged is never shared with who could write to it.
      const body = new Uint8Array(call.body);
      await inProcess.relay(
        respond(new Request(URL_IN_PROCESS, { method: 'POST', headers, body, signal: inProcess.signal }), toAuth(identity)),
      );
    },
    { scope: head.id, id: call.id ?? head.id, fairness_key: callerKey(identity, head.peer.client_address) },
  );
  submitted.catch((fault: { readonly code?: unknown }) => {
    const code =
      fault.code === 'OVERLOADED' ? 'OVERLOADED' : fault.code === 'SHUTDOWN' || fault.code === 'CANCELLED' ? 'DRAINING' : 'RUNTIME_FAILED';
    exchange.fail(new GatewayError(code, code === 'OVERLOADED' ? {} : { cause: fault }));
  });
}

function toAuth(identity: Identity | undefined): SdkAuth | undefined {
  if (identity === undefined) return undefined;
  const { issuer, principal, client, scopes, expires_at_ms, facts } = identity;
  return {
    token: '',
    clientId: client ?? principal,
    scopes: [...scopes],
    ...(expires_at_ms === undefined ? {} : { expiresAt: Math.floor(expires_at_ms / 1000) }),
    extra: { issuer, principal, facts },
  };
}
