import type { Clock } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { Call, Exchange, Health, Runtime } from '../../contract/runtime.js';
import type { ComponentView, Server } from '../../contract/server.js';
import type { Telemetry } from '../../contract/telemetry.js';
import type { CoreRequest } from '../../core/call/request.js';
import { crashFields, ServerHost } from '../../core/run/host.js';
import { GatewayError } from '../../errors/error.js';
import type { Executor, ExecutorLoad } from '../../executor/executor.js';
import { createRatedLog } from '../../transport/rated-log.js';

export interface HostedOptions {
  /** Config name. */
  readonly name: string;
  /** Made by `defineServer`. */
  readonly server: Server;
  /** Secrets that seal `requestState` and session ids: the first seals, all open. Empty: one random key per process. */
  readonly state_keys: readonly string[];
}

export interface HostedDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'toolsListed'>;
  /** The runtime's own: drained when it closes. */
  readonly executor: Executor;
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
  readonly load: ExecutorLoad;
}

/**
 * The runtime that ends a route at a server in this process, in every revision. Handlers run in the executor;
 * lists and the handshake are answered at once. Identity comes from the gates and is given to the handler of that very call.
 * @throws TypeError when `server` was not made by `defineServer`.
 */
export function createHosted(options: HostedOptions, deps: HostedDeps): HostedRuntime {
  return new Hosted(options, deps);
}

class Hosted implements HostedRuntime {
  readonly kind = 'hosted';
  readonly name: string;
  readonly #host: ServerHost;
  readonly #executor: Executor;
  readonly #telemetry: HostedDeps['telemetry'];
  readonly #told = new Set<string>();
  #health: Health = 'starting';

  constructor({ name, server, state_keys }: HostedOptions, { log, clock, executor, telemetry, rejected, hidden }: HostedDeps) {
    this.name = name;
    this.#executor = executor;
    this.#telemetry = telemetry;
    const rated = createRatedLog(log, clock);
    const crashed = (request: CoreRequest, error: unknown) => rated.warn(crashFields(request, error), 'a handler failed');
    const told =
      hidden === undefined
        ? {}
        : {
            hidden: ({ request_id, route, identity }: CoreRequest, component: ComponentView, why: HiddenCall['why']) =>
              hidden({ request_id, route, identity, component, why }),
          };
    this.#host = new ServerHost({ scope: name, server, state_keys }, { clock, executor, rejected, crashed, ...told });
  }

  get health(): Health {
    return this.#health;
  }

  get load(): ExecutorLoad {
    return this.#executor.load;
  }

  start(): Promise<void> {
    this.#health = 'ready';
    return Promise.resolve();
  }

  handle(call: Call, exchange: Exchange): void {
    if (this.#health === 'stopped') return exchange.fail(new GatewayError('DRAINING'));
    if (!this.#told.has(call.route.path)) this.#tell(call.route.path);
    this.#host.handle(call, exchange);
  }

  async close(deadline_ms: number): Promise<void> {
    this.#health = 'stopped';
    await this.#executor.drain(deadline_ms);
  }

  /** Tool names of a server that is ours are known: metrics of a route may name them from its first call on. */
  #tell(route: string): void {
    this.#told.add(route);
    this.#telemetry.toolsListed(route, [...this.#host.server.tools.keys()].slice(0, 200));
  }
}

/** For the log: the stack of an error, which names the place that failed. */
