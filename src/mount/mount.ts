import { randomUUID } from 'node:crypto';
import type { HeaderView } from '../contract/head.js';
import type { HttpRequest, HttpResponse, HttpStream } from '../contract/http.js';
import type { Server } from '../contract/server.js';
import { paramsOf } from '../core/call/params.js';
import { admitHttp } from '../core/http/admit.js';
import {
  checkEntry,
  framingOf,
  type HeadRules,
  type HeadTarget,
  HostPolicy,
  judgeOrigin,
  OriginPolicy,
  type Unframed,
} from '../core/http/check-head.js';
import { errorResponse } from '../core/http/response.js';
import { crashFields, ServerHost } from '../core/run/host.js';
import type { ErrorCode } from '../errors/codes.js';
import { GatewayError } from '../errors/error.js';
import { createExecutor } from '../executor/bounded.js';
import type { Executor } from '../executor/executor.js';
import { ID_WINDOW_BYTES, requestIdOf } from '../wire/request-id.js';
import { identityOf, type MountCaller } from './caller.js';
import { MountExchange } from './mount-exchange.js';
import { type MountOptions, type MountSettings, toSettings } from './options.js';

/** What a mount in any host does: it judges the head, then serves what was read. It owns the calls that are open. */
export class Mount {
  readonly settings: MountSettings;
  readonly #host: ServerHost;
  readonly #executor: Executor;
  readonly #own: boolean;
  readonly #origins: OriginPolicy;
  readonly #rules: HeadRules;
  readonly #open = new Set<MountExchange>();
  #closed: (() => void) | undefined;
  #draining = false;

  /** Throws TypeError when the server was not made by `defineServer`, RangeError for a limit that is none. */
  constructor(server: Server, options: MountOptions) {
    this.settings = toSettings(options);
    const { clock, log, state_keys, allowed_origins, allowed_hosts, max_body_bytes, chunked_requests } = this.settings;
    this.#own = options.executor === undefined;
    this.#executor = options.executor ?? createExecutor({ clock });
    this.#origins = new OriginPolicy(allowed_origins, 'http://localhost');
    this.#rules = { hosts: new HostPolicy(allowed_hosts), max_body_bytes, chunked: chunked_requests === 'accept', cors: false };
    this.#host = new ServerHost(
      { scope: `mount ${randomUUID()}`, server, state_keys },
      {
        clock,
        executor: this.#executor,
        crashed: (request, error) => log.warn(crashFields(request, error), 'a handler failed'),
      },
    );
  }

  /**
   * Judges a request before its body is read. Undefined: read the body; `admitHttp` judges the rest of the head, for its refusals carry
   * the id. A caller whom the mount `knows` is given the id with a 413 too. `unframed` as for `framingOf`.
   */
  judge(method: string, headers: HeaderView, unframed: Unframed = 'none'): HttpResponse | undefined {
    if (this.#draining) return refusal('DRAINING');
    const head = { method, headers, peer: STRANGER, origin: judgeOrigin(headers, this.#origins) };
    const { fault, allow } = checkEntry(head, TARGET, framingOf(headers, unframed), this.#rules);
    return fault === undefined ? undefined : refusal(fault.code, undefined, allow === undefined ? {} : { allow });
  }

  /** The host has verified who calls: a refusal about what is called may wait for the id of the call, with `idSettings`. */
  knows(caller: MountCaller): boolean {
    try {
      return identityOf(caller.mcpAuth) !== undefined;
    } catch {
      return false;
    }
  }

  /** Reads as much of a body as its id is looked for in. */
  get idSettings(): MountSettings {
    const wait_ms = Math.min(ID_WAIT_MS, this.settings.body_timeout_ms);
    return { ...this.settings, max_body_bytes: ID_WINDOW_BYTES, body_timeout_ms: wait_ms, read_timeout_ms: wait_ms };
  }

  /** Serves one POST. `signal`: the client has left. */
  serve(
    headers: HttpRequest['headers'],
    body: Uint8Array,
    caller: MountCaller,
    signal: AbortSignal,
  ): Promise<HttpResponse | HttpStream> | HttpResponse {
    if (this.#draining) return refusal('DRAINING', requestIdOf(body));
    const { log } = this.settings;
    let identity: ReturnType<typeof identityOf>;
    try {
      identity = identityOf(caller.mcpAuth);
    } catch (error) {
      log.error({ error: String(error) }, 'the host set an mcpAuth without a principal');
      return refusal('RUNTIME_FAILED', requestIdOf(body));
    }
    const prepared = admitHttp({ method: 'POST', headers, body, identity });
    if (prepared.kind === 'response') return prepared;
    const { call } = prepared;
    const scope = caller.mcpCancellationScope;
    if (call.method === 'notifications/cancelled' && scope !== undefined) this.#cancel(scope, paramsOf(call.body).requestId);
    const exchange = new MountExchange(prepared, { ...this.settings, scope, ended: (over) => this.#ended(over) });
    this.#open.add(exchange);
    const left = () => exchange.leave();
    signal.addEventListener('abort', left, { once: true });
    if (exchange.listens && !take(this.#executor, this.settings.max_subscriptions)) exchange.fail(new GatewayError('TOO_MANY_STREAMS'));
    else if (signal.aborted) left();
    else this.#host.handle(call, exchange);
    return exchange.answer;
  }

  /** Completes subscriptions, lets calls finish and cancels the rest at the deadline; whatever comes later is 503. */
  async close(deadline_ms: number = this.settings.drain_timeout_ms): Promise<void> {
    this.#draining = true;
    for (const exchange of this.#open) if (exchange.listens) exchange.complete();
    const timer = this.settings.clock.timer(deadline_ms, () => {
      for (const exchange of this.#open) exchange.leave();
    });
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#closed = resolve));
    timer.cancel();
    if (this.#own) await this.#executor.drain(0);
  }

  #cancel(scope: string, id: unknown): void {
    for (const exchange of this.#open) if (exchange.isOf(scope, id)) exchange.leave();
  }

  #ended(exchange: MountExchange): void {
    if (exchange.listens) give(this.#executor);
    this.#open.delete(exchange);
    if (this.#draining && this.#open.size === 0) this.#closed?.();
  }
}

/** An error of the table as a whole response; `id` as in `errorText`. */
export function refusal(code: ErrorCode, id?: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return errorResponse(new GatewayError(code, { headers }), id, randomUUID());
}

/** A mount has no GET streams, and its sessions have no end. */
const TARGET: HeadTarget = { kind: 'mcp', methods: new Set(['POST']) };
/** Which proxies to trust only the host knows. */
const STRANGER = { trusted: false } as const;
const ID_WAIT_MS = 900;

/** Open subscriptions by executor: mounts that share one share its cap. */
const TAKEN = new WeakMap<Executor, number>();

/** Counts one more; false when that is too many, but it is given back all the same. */
function take(executor: Executor, max: number): boolean {
  const taken = (TAKEN.get(executor) ?? 0) + 1;
  TAKEN.set(executor, taken);
  return taken <= max;
}

function give(executor: Executor): void {
  TAKEN.set(executor, (TAKEN.get(executor) ?? 1) - 1);
}
