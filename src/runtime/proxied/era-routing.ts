import { LRUCache } from 'lru-cache';
import { callerKey } from '../../contract/caller.js';
import type { Clock } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import type { Telemetry } from '../../contract/telemetry.js';
import type { ModernWay } from '../bridged/bridged-call.js';
import { BridgedSessions } from '../bridged/bridged-sessions.js';
import { FirstInitialize } from '../bridged/first-initialize.js';
import { modernFields } from '../bridged/to-modern.js';
import { EraBook, type EraBookOptions } from '../era/era-book.js';
import { type Verdict, verdictOf } from '../era/verdict.js';
import { ask } from '../peer/ask.js';
import { discoverParams } from '../peer/handshake.js';
import type { HeldCall } from '../peer/held-call.js';
import { HeldCalls, type HeldCallsOptions } from '../peer/held-calls.js';
import { HttpPipe } from '../peer/http-pipe.js';
import type { Lease } from '../peer/leased-session.js';
import { LeasedSessions, type LeasedSessionsOptions } from '../peer/leased-sessions.js';
import { Peer } from '../peer/peer.js';
import { ToolHeaders } from '../peer/tool-headers.js';
import { forwardedIdentity } from '../shared/forwarded-identity.js';
import { requestHeaders } from '../shared/request-headers.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { type QueuedSenderParts, QueuedSenders } from './queued-sender.js';

export interface EraRoutingOptions
  extends EraBookOptions,
    HeldCallsOptions,
    Pick<LeasedSessionsOptions, 'max_sessions' | 'max_sessions_per_caller' | 'session_idle_ms'> {
  /** Config name of the runtime. */
  readonly name: string;
  readonly max_event_bytes: number;
}

export interface EraRoutingDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly tools: ToolsLearner;
  /** Of the gateway, told to the servers that it asks. */
  readonly version: string;
  /** Secrets that seal what a client that was asked comes back with; replicas share them. None: one of this process. */
  readonly state_keys: readonly string[];
}

/**
 * Where calls go whose era may not be the server's: to the server as they are; modern ones on a legacy server into sessions that the gateway holds on it; legacy ones
 * on a modern server as modern calls.
 */
export class EraRouting {
  readonly book: EraBook;
  /** Modern calls go to the server as they are, and none of them can be a retry that is for the gateway. Read on each call. */
  passes = false;
  readonly #sessions: LeasedSessions;
  readonly #held: HeldCalls<HeldCall>;
  readonly #bridged: BridgedSessions;
  readonly #senders: QueuedSenders;
  /** Of callers whose calls are bridged to a modern server. */
  readonly #ways = new LRUCache<string, ModernWay>({ max: MAX_WAYS });
  readonly #max_event_bytes: number;
  readonly #clock: Clock;
  readonly #questionRefused: (method: string) => void;

  constructor(options: EraRoutingOptions, deps: EraRoutingDeps, parts: QueuedSenderParts) {
    const { name, max_event_bytes } = options;
    const { clock, telemetry, tools, version } = deps;
    this.#senders = new QueuedSenders(parts);
    this.#max_event_bytes = max_event_bytes;
    this.#clock = clock;
    this.#questionRefused = (method) => telemetry.questionRefused(name, method);
    this.book = new EraBook(options, {
      clock,
      log: deps.log,
      probe: (told) => {
        const peer = this.#open(PROBER, modernFields('server/discover', undefined));
        const end = (verdict: Verdict | undefined, refused = false): void => {
          peer.close('DRAINING');
          told(verdict, refused);
        };
        const probe = (again: boolean): void =>
          ask(peer, clock, 'server/discover', discoverParams(version), PROBE_MS, (reply) => {
            if (reply.kind === 'timeout') return end(undefined);
            if (reply.kind === 'lost')
              return end(reply.code === 'UPSTREAM_ANSWER' ? 'legacy' : undefined, reply.code === 'UPSTREAM_REFUSED');
            const verdict = verdictOf(reply.line, reply.response);
            // It refuses the revision that it lists: two versions of a server behind one URL do so.
            if (!again && verdict === 'modern' && reply.response.rpc_code === -32022) probe(true);
            else end(verdict);
          });
        probe(false);
        return () => peer.close('DRAINING');
      },
      probed: (outcome) => telemetry.eraProbed(name, outcome),
      changed: () => this.#judge(),
      flipped: (era) => {
        telemetry.eraFlipped(name);
        if (era === 'modern') this.#sessions.leave();
        else this.#bridged.close();
      },
    });
    this.#held = new HeldCalls<HeldCall>(options, {
      clock,
      keys: deps.state_keys,
      name,
      telemetry,
      changed: () => this.#judge(),
    });
    this.#judge();
    const headers = new ToolHeaders();
    this.#bridged = new BridgedSessions(
      { max_sessions: MAX_BRIDGED, version, keys: deps.state_keys },
      {
        clock,
        tools,
        headers,
        open: (call, method, stream) => {
          const caller = callerOf(call);
          if (method === undefined) return this.#wayOf(caller);
          const fields = [...identityFields(call), ...modernFields(method, undefined)];
          return wayTo(this.#open(caller, fields, stream));
        },
        identityOf: () => undefined,
        fieldsOf: (call) => [
          ...identityFields(call),
          ...modernFields(call.method, call.name),
          ...headers.fieldsOf(call),
          ...traceFields(call),
        ],
        doubted: () => this.book.doubt(),
        questioned: (route, method, outcome) => telemetry.questionEnded(route, method, outcome),
      },
    );
    this.#sessions = new LeasedSessions(
      { ...options, version, start_timeout_ms: START_MS },
      {
        clock,
        tools,
        headers: new ToolHeaders(),
        held: this.#held,
        attributes: true,
        open: (call) => this.#lease(call),
        toldOf: identityFields,
        identityOf: () => undefined,
        fieldsOf: callFields,
        refused: () => this.book.sessionRefused(),
        ended: (reason) => telemetry.bridgeSessionEnded(name, reason),
      },
    );
  }

  /** Sessions of legacy clients of which this process remembers something. */
  get bridged(): number {
    return this.#bridged.size;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  get held(): number {
    return this.#held.size;
  }

  #judge(): void {
    this.passes = this.book.passes && this.#held.size === 0;
  }

  /** Serves a modern call of which it is not certain that it may go on as it is; `pass` sends it on so. */
  route(call: Call, exchange: Exchange, pass: () => void): void {
    if (this.#held.size > 0 && call.body.includes('"requestState"') && this.#sessions.resumes(call, exchange)) return;
    if (this.book.passes) return pass();
    let leave = (): void => undefined;
    exchange.onCancel(() => leave());
    leave = this.book.resolve((bridged) => {
      if (exchange.ended) return;
      if (bridged) this.#sessions.handle(call, exchange);
      else pass();
    });
  }

  /** Serves a legacy call whose session is one that the gateway gave out in the place of a modern server; false: it is none. */
  routeBridged(call: Call, exchange: Exchange): boolean {
    if (this.book.serves_legacy !== false || call.method === 'initialize') return false;
    return call.head.headers.all('mcp-session-id').length === 1 && this.#bridged.handle(call, exchange);
  }

  /**
   * Serves a legacy call that names no session of the server's own; `pass` sends it on as it is. The first `initialize` shows whether a modern server serves
   * legacy revisions too.
   */
  routeLegacy(call: Call, exchange: Exchange, pass: (exchange: Exchange) => void): void {
    const { serves_legacy, verdict } = this.book;
    if (call.method === 'initialize') {
      if (serves_legacy === false) return this.#bridged.initialize(call, exchange);
      if (serves_legacy === true || verdict !== 'modern') return pass(exchange);
      const first = new FirstInitialize(exchange, (serves) => {
        this.book.serves_legacy = serves;
        if (!serves && !exchange.ended) this.#bridged.initialize(call, exchange);
        return !serves;
      });
      return pass(first);
    }
    if (verdict !== 'legacy' && this.#bridged.handle(call, exchange)) return;
    const bare = serves_legacy === false && call.head.headers.get('mcp-session-id') === undefined && BARE.has(call.kind);
    if (bare) this.#bridged.handleBare(call, exchange);
    else pass(exchange);
  }

  close(): void {
    this.book.close();
    this.#sessions.close();
    this.#bridged.close();
  }

  /** The way of one caller's bridged calls, which stays open. */
  #wayOf(caller: string): ModernWay {
    const known = this.#ways.get(caller);
    if (known !== undefined) return known;
    const way = { ...wayTo(this.#open(caller, [])), close: ignore };
    this.#ways.set(caller, way);
    return way;
  }

  #lease(call: Call): Lease {
    const pipe = this.#pipe(callerOf(call), identityFields(call));
    return { peer: this.#peer(pipe), listen: () => pipe.listen(), end: ignore };
  }

  #open(caller: string, fields: readonly string[], stream = false): Peer {
    return this.#peer(this.#pipe(caller, fields, stream, () => this.book.doubt()));
  }

  #pipe(caller: string, fields: readonly string[], stream = false, doubted?: () => void): HttpPipe {
    return new HttpPipe({
      sender: this.#senders.of(caller, stream),
      clock: this.#clock,
      max_message_bytes: this.#max_event_bytes,
      fields,
      doubted,
    });
  }

  #peer(pipe: HttpPipe): Peer {
    return new Peer(pipe, { max_pending: MAX_PENDING, junk: ignore, refused: (method) => this.#questionRefused(method), ended: ignore });
  }
}

/** The gateway itself, where callers share. No caller's key is empty. */
const PROBER = callerKey(undefined, '');
/** The book gives up sooner. */
const PROBE_MS = 600_000;
/** From the call that needs a session until the server has answered `initialize`. */
export const START_MS = 30_000;
/** Requests of one session that wait for an answer. */
export const MAX_PENDING = 1_024;
const MAX_BRIDGED = 4_096;
const MAX_WAYS = 1_024;
/** Messages that a client may send without a session. */
const BARE: ReadonlySet<string> = new Set(['request', 'notification', 'response']);

const callerOf = ({ identity, head }: Call): string => callerKey(identity, head.peer.client_address);

export function identityFields({ identity, route }: Call): readonly string[] {
  const name = route.forward_identity_header;
  return identity === undefined || name === undefined ? [] : [name, forwardedIdentity(identity)];
}

/** What a forwarded call would carry, without the fields that belong to the modern revision. */
export function callFields(call: Call): readonly string[] {
  const fields = requestHeaders(call, undefined, undefined);
  const kept: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    if (!MODERN_FIELDS.has(name)) kept.push(name, fields[i + 1] as string);
  }
  return kept;
}

/** What tells of the trace of a call. */
function traceFields({ trace, head: { headers } }: Call): readonly string[] {
  const traceparent = trace === undefined ? headers.get('traceparent') : trace.outgoing().traceparent;
  const tracestate = trace === undefined ? headers.get('tracestate') : trace.outgoing().tracestate;
  if (traceparent === undefined) return [];
  return tracestate === undefined ? ['traceparent', traceparent] : ['traceparent', traceparent, 'tracestate', tracestate];
}

/** A way that is one peer's own. */
function wayTo(peer: Peer): ModernWay {
  return { peer, close: () => peer.close('UPSTREAM_ENDED'), cancel: (id) => peer.forget(id) };
}

const MODERN_FIELDS: ReadonlySet<string> = new Set(['mcp-protocol-version', 'mcp-method', 'mcp-name']);

function ignore(): void {}
