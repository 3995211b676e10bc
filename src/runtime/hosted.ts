import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Call, Exchange, Health, Runtime } from '../contract/runtime.js';
import type { ComponentView, Server } from '../contract/server.js';
import type { Telemetry } from '../contract/telemetry.js';
import { paramsOf } from '../core/call/params.js';
import type { CoreEnvironment, CoreRequest } from '../core/call/request.js';
import { createStateSeal } from '../core/call/state-seal.js';
import { asRuntime, type ServerRuntime } from '../core/define/server-runtime.js';
import { prepare } from '../core/prepare.js';
import { openWrappers } from '../core/wrap/open-wrappers.js';
import { dialectOf } from '../dialect/select.js';
import { GatewayError } from '../errors/error.js';
import { type CallExecutor, HostedCall, type HostedParts } from './hosted-call.js';
import { openSubscription } from './hosted-listen.js';
import { Questions } from './hosted-questions.js';
import { sendReply } from './hosted-reply.js';
import { createRatedLog } from './rated-log.js';

export interface HostedOptions {
  /** Config name. */
  readonly name: string;
  /** Made by `defineServer`. */
  readonly server: Server;
  /** Secrets that seal `requestState`: the first seals, all open. Empty: one random key per process. */
  readonly state_keys: readonly string[];
}

export interface HostedDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'toolsListed'>;
  readonly executor: CallExecutor;
  /** Told when the executor refused or gave up a call: `overloaded`, `deadline`, `cancelled`. */
  readonly rejected?: (reason: string) => void;
  /** Told when scopes or the policy of the server hid a component from a call. */
  readonly hidden?: (call: HiddenCall) => void;
}

export interface HiddenCall {
  readonly request_id: string;
  readonly route: string;
  readonly identity: CoreRequest['identity'];
  readonly component: ComponentView;
  readonly why: 'scopes' | 'policy';
}

export interface HostedRuntime extends Runtime {
  readonly load: CallExecutor['load'];
}

/**
 * The runtime that ends a route at a server in this process, in every revision, without sessions. Handlers run in the executor;
 * lists and the handshake are answered at once. Identity comes from the gates and is given to the handler of that very call.
 * @throws TypeError when `server` was not made by `defineServer`.
 */
export function createHosted(options: HostedOptions, deps: HostedDeps): HostedRuntime {
  const server = asRuntime(options.server);
  if (server === undefined) throw new TypeError('the server was not made by defineServer');
  return new Hosted(options, server, deps);
}

class Hosted implements HostedRuntime {
  readonly kind = 'hosted';
  readonly name: string;
  readonly #server: ServerRuntime;
  readonly #deps: HostedDeps;
  readonly #parts: HostedParts;
  readonly #env: CoreEnvironment;
  readonly #told = new Set<string>();
  readonly #stopped = new AbortController();
  #health: Health = 'starting';

  constructor(options: HostedOptions, server: ServerRuntime, deps: HostedDeps) {
    this.name = options.name;
    this.#server = server;
    this.#deps = deps;
    const { executor, clock } = deps;
    this.#parts = { name: options.name, executor, questions: new Questions(clock), rejected: deps.rejected };
    const log = createRatedLog(deps.log, clock);
    this.#env = {
      seal: createStateSeal({ keys: options.state_keys, clock }),
      wrapped: openWrappers(server, clock),
      crashed: ({ request_id, method, name }, error) => log.warn({ request_id, method, name, error: sayWhat(error) }, 'a handler failed'),
    };
  }

  get health(): Health {
    return this.#health;
  }

  get load(): CallExecutor['load'] {
    return this.#deps.executor.load;
  }

  start(): Promise<void> {
    this.#health = 'ready';
    return Promise.resolve();
  }

  handle(call: Call, exchange: Exchange): void {
    if (this.#health === 'stopped') return exchange.fail(new GatewayError('DRAINING'));
    switch (call.kind) {
      case 'request':
        return this.#serve(call, exchange);
      case 'response':
        this.#parts.questions.answer(call.id, call.body, call.identity);
        return exchange.accept();
      case 'notification':
        return exchange.accept();
      default:
        return exchange.fail(new GatewayError('METHOD_NOT_ALLOWED', { headers: { allow: 'POST' } }));
    }
  }

  async close(deadline_ms: number): Promise<void> {
    this.#health = 'stopped';
    this.#stopped.abort('drain');
    await this.#deps.executor.drain(deadline_ms);
  }

  #serve(call: Call, exchange: Exchange): void {
    const request = toRequest(call);
    this.#tell(call.route.path);
    const prepared = prepare(this.#server, request, this.#envOf(call));
    if (prepared.kind === 'job') return new HostedCall(this.#parts, request, prepared, exchange).start();
    if (prepared.kind === 'listen') return openSubscription(this.#server, request, prepared.wanted, exchange, this.#env);
    if (prepared.kind !== 'ask') sendReply(exchange, undefined, request.id, prepared);
  }

  #envOf({ route, head }: Call): CoreEnvironment {
    const { hidden } = this.#deps;
    if (hidden === undefined) return this.#env;
    return {
      ...this.#env,
      hidden: ({ identity }, component, why) => hidden({ request_id: head.id, route: route.path, identity, component, why }),
    };
  }

  /** Tool names of a server that is ours are known: metrics of a route may name them from its first call on. */
  #tell(route: string): void {
    if (this.#told.has(route)) return;
    this.#told.add(route);
    this.#deps.telemetry.toolsListed(route, [...this.#server.tools.keys()].slice(0, 200));
  }
}

function toRequest(call: Call): CoreRequest {
  return {
    dialect: dialectOf(call.revision),
    method: call.method,
    name: call.name,
    id: call.id ?? 'null',
    progress_token: call.progress_token,
    params: paramsOf(call.body),
    request_id: call.head.id,
    identity: call.identity,
    facts: call.facts,
    headers: call.head.headers,
  };
}

/** For the log: the stack of an error, which names the place that failed. */
function sayWhat(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
