import { LRUCache } from 'lru-cache';
import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import type { QuestionOutcome } from '../../contract/telemetry.js';
import { FIRST_LEVEL, isLogLevel } from '../../core/call/context.js';
import { paramsOf } from '../../core/call/params.js';
import { type ClientSeal, createClientSeal, type LegacyClient, legacyClientOf } from '../../core/client-seal.js';
import { JSON_HEADERS } from '../../core/run/call.js';
import { Questions } from '../../core/run/questions.js';
import { dialectOf, negotiate } from '../../dialect/select.js';
import { GatewayError } from '../../errors/error.js';
import { isObjectAt, memberAt, membersOf } from '../../wire/edit.js';
import { resultText, SERVER_INFO_KEY } from '../../wire/rpc.js';
import { sameId } from '../../wire/summary.js';
import { toRaw } from '../../wire/text.js';
import { verdictOf } from '../era/verdict.js';
import { ask } from '../peer/ask.js';
import { discoverParams } from '../peer/handshake.js';
import type { ToolHeaders } from '../peer/tool-headers.js';
import { bindingBytes, bindingOf } from '../shared/session-seal.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { BridgedCall, type ModernWay } from './bridged-call.js';
import { BridgedStream } from './bridged-stream.js';
import { modernMeta } from './to-modern.js';

export interface BridgedSessionsOptions {
  /** Sessions of which this process remembers more than the id says. The one that was used least recently is forgotten. */
  readonly max_sessions: number;
  /** Of the gateway, told to the server that it asks what it is. */
  readonly version: string;
  /** Secrets that seal the session ids; replicas share them. */
  readonly keys: readonly string[];
}

export interface BridgedSessionsDeps {
  readonly clock: Clock;
  readonly tools: ToolsLearner;
  /** What is known of the server's mirrored arguments. */
  readonly headers: ToolHeaders;
  /** A way to the server for this caller. `method`: of all that goes by it; undefined: each message has fields of its own. A `stream` stays open. */
  open(call: Call, method: string | undefined, stream: boolean): ModernWay;
  /** A question of the server to a client came to its end. */
  questioned(route: string, method: string, outcome: QuestionOutcome): void;
  /** JSON text of who calls, where messages tell it. */
  identityOf(call: Call): string | undefined;
  /** Header fields of one call. */
  fieldsOf(call: Call): readonly string[];
  /** The server does not answer as a modern one. */
  doubted(): void;
}

/**
 * Legacy clients on a server that serves the modern revision alone. The session id carries what later calls need of the handshake, so that any replica serves them;
 * the log level, the resources that a client subscribed to and its GET stream live in this process.
 */
export class BridgedSessions {
  readonly #options: BridgedSessionsOptions;
  readonly #deps: BridgedSessionsDeps;
  readonly #seal: ClientSeal;
  readonly #questions = new Questions();
  readonly #known: LRUCache<string, BridgedSession>;
  readonly #ended = new LRUCache<string, true>({ max: MAX_ENDED });

  constructor(options: BridgedSessionsOptions, deps: BridgedSessionsDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#seal = createClientSeal({ label: 'bridge-session-1', keys: options.keys, clock: deps.clock });
    this.#known = new LRUCache({ max: options.max_sessions, dispose: (session) => session.end() });
  }

  get size(): number {
    return this.#known.size;
  }

  /** Answers `initialize` from what the server says of itself now. */
  initialize(call: Call, exchange: Exchange): void {
    const params = paramsOf(call.body);
    const { protocolVersion } = params;
    if (typeof protocolVersion !== 'string')
      return exchange.fail(new GatewayError('INVALID_ARGUMENTS', { detail: 'initialize needs params.protocolVersion.' }));
    const way = this.#deps.open(call, 'server/discover', false);
    exchange.onCancel(() => way.close());
    exchange.upstreamStarted('to_modern');
    ask(way.peer, this.#deps.clock, 'server/discover', discoverParams(this.#options.version), DISCOVER_MS, (reply) => {
      way.close();
      if (exchange.ended) return;
      exchange.upstreamResponded();
      if (reply.kind === 'timeout') return exchange.fail(new GatewayError('DEADLINE'));
      if (reply.kind === 'lost' && reply.code !== 'UPSTREAM_ANSWER') return exchange.fail(new GatewayError(reply.code));
      if (reply.kind === 'lost' || verdictOf(reply.line, reply.response) !== 'modern' || reply.response.outcome === 'rpc_error') {
        this.#deps.doubted();
        return exchange.fail(new GatewayError('ERA_UNAVAILABLE'));
      }
      const { revision } = negotiate(protocolVersion);
      const id = this.#seal.seal(legacyClientOf(params, revision), keyOf(call));
      const body = Buffer.from(resultText(call.id as string, handshakeText(reply.line, revision)));
      exchange.respond(200, [...JSON_HEADERS, 'mcp-session-id', id], body, 'ok');
    });
  }

  /** The session of this call is one of these. */
  knows(call: Call): boolean {
    const id = call.head.headers.get('mcp-session-id');
    return id !== undefined && this.#seal.open(id, keyOf(call)) !== undefined;
  }

  /** Serves a call whose session is one of these; false: it is none. */
  handle(call: Call, exchange: Exchange): boolean {
    const id = call.head.headers.get('mcp-session-id');
    const session = id === undefined ? undefined : this.#sessionOf(id, keyOf(call));
    if (id === undefined || session === undefined) return false;
    if (this.#ended.has(id)) exchange.fail(new GatewayError('SESSION_NOT_FOUND'));
    else if (call.kind === 'session_end') {
      this.#ended.set(id, true);
      this.#known.delete(id);
      exchange.accept(200);
    } else session.handle(call, exchange);
    return true;
  }

  /** Serves a call of a client that came without a session id: of it nothing is known. */
  handleBare(call: Call, exchange: Exchange): void {
    new BridgedSession({ revision: call.revision, capabilities: {}, info: undefined }, this.#questions, this.#deps).handle(call, exchange);
  }

  /** Ends every session: their ids are unknown from now on, here. */
  close(): void {
    this.#known.clear();
  }

  /** `key`: of the caller. The seal of an id that this process knows of the same caller is not opened again. */
  #sessionOf(id: string, key: string): BridgedSession | undefined {
    const known = this.#known.get(id);
    if (known !== undefined && known.key === key) return known;
    const client = this.#seal.open(id, key);
    if (client === undefined) return undefined;
    const session = new BridgedSession(client, this.#questions, this.#deps, key);
    if (!this.#ended.has(id)) this.#known.set(id, session);
    return session;
  }
}

/** What this process knows of one session beside its id. */
class BridgedSession {
  /** Of its caller. */
  readonly key: string | undefined;
  readonly #client: LegacyClient;
  readonly #questions: Questions;
  readonly #deps: BridgedSessionsDeps;
  readonly #calls = new Set<BridgedCall>();
  /** Members of `params._meta` that every call of it has, JSON text without braces. */
  #meta: string;
  #stream: BridgedStream | undefined;

  constructor(client: LegacyClient, questions: Questions, deps: BridgedSessionsDeps, key?: string) {
    this.key = key;
    this.#client = client;
    this.#questions = questions;
    this.#deps = deps;
    this.#meta = modernMeta(client, FIRST_LEVEL);
  }

  handle(call: Call, exchange: Exchange): void {
    switch (call.kind) {
      case 'request':
        return this.#request(call, exchange);
      case 'notification':
        if (call.method === 'notifications/cancelled') this.#cancel(call.body);
        return exchange.accept();
      case 'response':
        this.#questions.answer(call.id, call.body, call.identity);
        return exchange.accept();
      default:
        return this.#streamOf(call).attach(exchange);
    }
  }

  /** The server is not told: nothing is left there. */
  end(): void {
    for (const call of this.#calls) call.end();
    this.#stream?.end();
  }

  #request(call: Call, exchange: Exchange): void {
    switch (call.method) {
      case 'ping':
        return done(call, exchange);
      case 'logging/setLevel': {
        const { level } = paramsOf(call.body);
        if (!isLogLevel(level)) return exchange.fail(new GatewayError('INVALID_ARGUMENTS', { detail: 'params.level is not a log level.' }));
        this.#meta = modernMeta(this.#client, level);
        return done(call, exchange);
      }
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#subscribe(call, exchange);
      default:
        if (dialectOf(this.#client.revision).methods.has(call.method)) this.#run(call, exchange);
        else exchange.fail(new GatewayError('METHOD_NOT_FOUND'));
    }
  }

  #run(call: Call, exchange: Exchange): void {
    const { clock, tools, headers, open, fieldsOf, identityOf } = this.#deps;
    const way = open(call, undefined, false);
    const own: BridgedCall = new BridgedCall(way, call, exchange, this.#client, this.#meta, {
      clock,
      questions: this.#questions,
      tools: {
        learn: (route, message) => {
          tools.learn(route, message);
          headers.learn(message);
        },
      },
      fieldsOf,
      identityOf,
      questioned: (about, method, outcome) => this.#deps.questioned(about.route.path, method, outcome),
      relist: (about, told) => this.#relist(about, told),
      elsewhere: (message) => this.#stream?.push(message) === true,
      over: () => {
        this.#calls.delete(own);
        way.close();
      },
    });
    this.#calls.add(own);
    own.start();
  }

  #relist(call: Call, told: () => void): void {
    const way = this.#deps.open(call, 'tools/list', false);
    const meta = `{"_meta":{${this.#meta}}}`;
    this.#deps.headers.ask(way.peer, this.#deps.clock, meta, () => {
      way.close();
      told();
    });
  }

  #subscribe(call: Call, exchange: Exchange): void {
    const { uri } = paramsOf(call.body);
    if (typeof uri !== 'string') return exchange.fail(new GatewayError('INVALID_ARGUMENTS', { detail: 'params.uri is missing.' }));
    const stream = this.#streamOf(call);
    if (call.method === 'resources/unsubscribe') {
      stream.unsubscribe(uri);
      return done(call, exchange);
    }
    stream.subscribe(uri, (taken) => {
      if (exchange.ended) return;
      if (taken) done(call, exchange);
      else exchange.fail(new GatewayError('INVALID_ARGUMENTS', { detail: 'The server sends no updates of this resource.' }));
    });
  }

  #streamOf(call: Call): BridgedStream {
    this.#stream ??= new BridgedStream({
      clock: this.#deps.clock,
      open: () => this.#deps.open(call, 'subscriptions/listen', true),
      meta: () => this.#meta,
    });
    return this.#stream;
  }

  #cancel(body: Uint8Array): void {
    const member = memberAt(body, 'params', 'requestId');
    const id = member === undefined ? undefined : toRaw(body, member.value, member.to);
    for (const call of this.#calls) if (sameId(call.call.id, id)) return call.withdraw();
  }
}

/** The result of `initialize`, made of that of `server/discover`. */
function handshakeText(line: Uint8Array, revision: string): string {
  const text = (...path: readonly string[]): string | undefined => {
    const member = memberAt(line, 'result', ...path);
    return member === undefined ? undefined : toRaw(line, member.value, member.to);
  };
  const given = memberAt(line, 'result', 'capabilities');
  const kept =
    given === undefined || !isObjectAt(line, given.value) ? [] : membersOf(line, given.value).filter(({ key }) => !MODERN_ONLY.has(key));
  const capabilities = `{${kept.map(({ from, to }) => toRaw(line, from, to)).join(',')}}`;
  const info = text('_meta', SERVER_INFO_KEY) ?? '{"name":"unknown","version":"0"}';
  const instructions = text('instructions');
  const said = instructions?.startsWith('"') === true ? `,"instructions":${instructions}` : '';
  return `{"protocolVersion":"${revision}","capabilities":${capabilities},"serverInfo":${info}${said}}`;
}

/** Capabilities that mean something else, or nothing, in a legacy revision. */
const MODERN_ONLY: ReadonlySet<string> = new Set(['extensions', 'tasks']);

function done(call: Call, exchange: Exchange): void {
  exchange.respond(200, JSON_HEADERS, Buffer.from(resultText(call.id as string, '{}')), 'ok');
}

function keyOf(call: Call): string {
  return bindingBytes(bindingOf(call)).toString();
}

const DISCOVER_MS = 30_000;
const MAX_ENDED = 10_000;
