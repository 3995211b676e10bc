import { callerKey } from '../../contract/caller.js';
import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import type { Server } from '../../contract/server.js';
import { dialectOf } from '../../dialect/select.js';
import type { ErrorCode } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import type { Executor } from '../../executor/executor.js';
import { FIRST_LEVEL } from '../call/context.js';
import { paramsOf } from '../call/params.js';
import type { CoreEnvironment, CoreRequest, CoreSession } from '../call/request.js';
import { createStateSeal } from '../call/state-seal.js';
import { createClientSeal } from '../client-seal.js';
import { asRuntime, openWrappers, type ServerRuntime } from '../define/server-runtime.js';
import { prepare } from '../prepare.js';
import { Tasks } from '../task/tasks.js';
import { JSON_HEADERS, RunningCall, type RunParts, sendReply } from './call.js';
import { ClientSessions } from './client-sessions.js';
import { openSubscription } from './listen.js';
import { Questions } from './questions.js';

export interface HostOptions {
  /** The executor's scope for the requests of this host. */
  readonly scope: string;
  /** Made by `defineServer`. */
  readonly server: Server;
  /** Secrets that seal `requestState` and session ids: the first seals, all open. Empty: one random key for this host. */
  readonly state_keys: readonly string[];
  /** The transport is one client's and has no header fields: nothing is mirrored there. */
  readonly headless?: boolean;
}

export interface HostDeps extends Pick<CoreEnvironment, 'crashed' | 'hidden'> {
  readonly clock: Clock;
  /** Not drained here; its creator does that. */
  readonly executor: Executor;
  /** Told when the executor refused or gave up a call: `overloaded`, `deadline`, `cancelled`. */
  readonly rejected?: ((reason: string) => void) | undefined;
}

/** Serves the admitted messages of one server, whatever carries them. It owns the questions that clients have not answered. */
export class ServerHost {
  readonly server: ServerRuntime;
  readonly #parts: RunParts;
  readonly #env: CoreEnvironment;
  /** Of the one client of a headless transport. */
  readonly #session: CoreSession | undefined;
  readonly #sessions: ClientSessions;
  /** Undefined: no tool becomes a task. */
  readonly #tasks: Tasks | undefined;

  /** Throws TypeError when the server was not made by `defineServer`. */
  constructor({ scope, server, state_keys, headless = false }: HostOptions, { clock, executor, rejected, crashed, hidden }: HostDeps) {
    const runtime = asRuntime(server);
    if (runtime === undefined) throw new TypeError('the server was not made by defineServer');
    this.server = runtime;
    this.#session = headless ? newSession() : undefined;
    this.#sessions = new ClientSessions(createClientSeal({ label: 'client-session-1', keys: state_keys, clock }));
    this.#parts = { scope, executor, questions: new Questions(), rejected };
    const seal = createStateSeal({ keys: state_keys, clock });
    const wrapped = openWrappers(runtime, clock);
    const has_tasks = [...runtime.tools.values()].some(({ definition }) => definition.task !== undefined);
    this.#env = { seal, wrapped, crashed, ...(hidden === undefined ? {} : { hidden }), ...(has_tasks ? { tasks: true } : {}) };
    this.#tasks = has_tasks ? new Tasks(runtime, { clock, executor, scope, failed: crashed }) : undefined;
  }

  /** Never throws; every way out goes through the exchange. */
  handle(call: Call, exchange: Exchange): void {
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

  #serve(call: Call, exchange: Exchange): void {
    const begins = call.method === 'initialize' && this.#session === undefined ? newSession() : undefined;
    const session = this.#session ?? begins ?? (call.era === 'legacy' ? this.#sessions.find(call) : undefined);
    const request = toRequest(call, session, this.#session !== undefined);
    if (this.#tasks?.handle(request, exchange) === true) return;
    const prepared = prepare(this.server, request, this.#env);
    if (prepared.kind === 'job' && 'task' in prepared) return this.#tasks?.start(request, prepared, exchange);
    if (prepared.kind === 'job') return new RunningCall(this.#parts, request, prepared, exchange).start();
    if (prepared.kind === 'listen') return openSubscription(this.server, request, prepared.wanted, exchange, this.#env);
    if (prepared.kind === 'ask') return;
    const client = prepared.kind === 'result' ? begins?.client : undefined;
    const headers = client === undefined ? JSON_HEADERS : [...JSON_HEADERS, 'mcp-session-id', this.#sessions.begin(call, client)];
    sendReply(exchange, undefined, request.id, prepared, headers);
  }
}

function newSession(): CoreSession {
  return { log_level: FIRST_LEVEL, client: undefined };
}

function toRequest(call: Call, session: CoreSession | undefined, headless: boolean): CoreRequest {
  // Clients of the first revisions declare theirs at the handshake alone.
  const agreed = call.head.claims.declared ? undefined : session?.client?.revision;
  return {
    dialect: dialectOf(agreed ?? call.revision),
    method: call.method,
    name: call.name,
    id: call.id as string,
    progress_token: call.progress_token,
    params: paramsOf(call.body),
    request_id: call.head.id,
    route: call.route.path,
    identity: call.identity,
    caller: callerKey(call.identity, call.head.peer.client_address),
    facts: call.facts,
    headers: headless ? undefined : call.head.headers,
    session,
  };
}

/** What the log says of a handler that threw: the code is the one that the client was told, the error stays here. */
export function crashFields({ request_id, method, name }: CoreRequest, error: unknown): Readonly<Record<string, unknown>> {
  const code: ErrorCode = 'RUNTIME_FAILED';
  return { request_id, method, name, code, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
