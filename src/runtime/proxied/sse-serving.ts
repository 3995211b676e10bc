import { callerKey } from '../../contract/caller.js';
import type { Timer } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { PipeEnd } from '../../transport/process-handle.js';
import type { RatedLog } from '../../transport/rated-log.js';
import type { HeldCall } from '../peer/held-call.js';
import { HeldCalls } from '../peer/held-calls.js';
import { LeasedSessions } from '../peer/leased-sessions.js';
import { Peer } from '../peer/peer.js';
import { Sessions } from '../peer/sessions.js';
import { SsePipe } from '../peer/sse-pipe.js';
import { ToolHeaders } from '../peer/tool-headers.js';
import type { FixedHeads } from '../shared/request-headers.js';
import type { SessionSeal } from '../shared/session-seal.js';
import { callFields, type EraRoutingDeps, type EraRoutingOptions, identityFields, MAX_PENDING, START_MS } from './era-routing.js';
import { type QueuedSenderParts, QueuedSenders } from './queued-sender.js';
import { RequestQueue } from './request-queue.js';

export interface SseServingOptions extends Omit<EraRoutingOptions, 'protocol' | 'probe_timeout_ms' | 'era_ttl_ms'> {
  /** Of the event stream. */
  readonly url: URL;
}

export interface SseServingDeps extends EraRoutingDeps {
  readonly rated: RatedLog;
  readonly seal: SessionSeal;
  /** The heads of requests to another path and query of the server. */
  headsOf(target: string): FixedHeads;
}

/**
 * Clients of every era on a server that speaks the HTTP+SSE transport of MCP 2024-11-05 alone. Each legacy client has a session of the server for itself, whose id the gateway
 * seals to route and caller; modern clients are served over sessions of the gateway's own. A session is a stream: `max_sessions` and the streams of the runtime bound both kinds together.
 */
export class SseServing {
  readonly #options: SseServingOptions;
  readonly #deps: SseServingDeps;
  readonly #senders: QueuedSenders;
  /** A stream takes no place of a call, however few one caller has. */
  readonly #streams: RequestQueue;
  readonly #streamSenders: QueuedSenders;
  readonly #legacy: Sessions;
  readonly #modern: LeasedSessions;
  readonly #held: HeldCalls<HeldCall>;
  readonly #sweep: Timer;

  constructor(options: SseServingOptions, deps: SseServingDeps, parts: QueuedSenderParts) {
    this.#options = options;
    this.#deps = deps;
    this.#senders = new QueuedSenders(parts);
    const running = parts.max_streams;
    this.#streams = new RequestQueue({ running, waiting: 1, running_per_caller: running });
    this.#streamSenders = new QueuedSenders({ ...parts, queue: this.#streams });
    const { clock, telemetry, tools, seal, version } = deps;
    const { name, session_idle_ms, max_sessions_per_caller } = options;
    this.#held = new HeldCalls<HeldCall>(options, {
      clock,
      keys: deps.state_keys,
      name,
      telemetry,
    });
    const bounds = { max_sessions: Math.min(options.max_sessions, running), max_sessions_per_caller, start_timeout_ms: START_MS };
    // Fields of one message take the place of the pipe's, so they say both.
    const fieldsOf = (call: Call): readonly string[] => [...identityFields(call), ...callFields(call)];
    this.#modern = new LeasedSessions(
      { ...bounds, session_idle_ms, version },
      {
        clock,
        tools,
        headers: new ToolHeaders(),
        held: this.#held,
        attributes: false,
        open: (call, ended) => ({ peer: this.#open(call, ended), listen: ignore, end: ignore }),
        toldOf: identityFields,
        identityOf: () => undefined,
        fieldsOf,
        others: () => this.#legacy.size,
        refused: ignore,
        ended: (reason) => telemetry.bridgeSessionEnded(name, reason),
      },
    );
    this.#legacy = new Sessions(
      { ...bounds, idle_ttl_ms: LEGACY_IDLE_MS },
      {
        clock,
        tools,
        seal,
        identityOf: () => undefined,
        fieldsOf,
        others: () => this.#modern.size,
        yields: () => this.#modern.yields(),
        unknown: (_call, exchange) => exchange.fail(new GatewayError('SESSION_NOT_FOUND')),
        starter: {
          start: (ended, call) => {
            const peer = this.#open(call, ended);
            return { peer, launched: { stop: () => Promise.resolve(peer.close('UPSTREAM_ENDED')) } };
          },
          discard: ({ peer }) => peer.close('UPSTREAM_DOWN'),
        },
        // There is no server process that could be taken over.
        supervisor: {
          claim(claimant) {
            claimant.none();
            return ignore;
          },
        },
      },
    );
    this.#sweep = clock.interval(SWEEP_MS, () => this.#legacy.tick(clock.mono_ms()));
  }

  /** Sessions of legacy clients. */
  get sessions(): number {
    return this.#legacy.size;
  }

  /** Sessions of the gateway for modern clients. */
  get leased(): number {
    return this.#modern.size;
  }

  /** Sessions of both kinds. */
  get streams(): number {
    return this.#streams.running;
  }

  get held(): number {
    return this.#held.size;
  }

  handle(call: Call, exchange: Exchange): void {
    if (call.era === 'modern') this.#modern.handle(call, exchange);
    else this.#legacy.handle(call, exchange);
  }

  close(): void {
    this.#sweep.cancel();
    this.#modern.close();
    this.#legacy.close(0);
  }

  #open(call: Call, ended: (end: PipeEnd) => void): Peer {
    const { url, max_event_bytes, name } = this.#options;
    const { clock, rated, headsOf, telemetry } = this.#deps;
    const caller = callerKey(call.identity, call.head.peer.client_address);
    const pipe = new SsePipe({
      url,
      stream: this.#streamSenders.of(caller),
      senderTo: (target) => this.#senders.of(caller, false, headsOf(target)),
      clock,
      max_message_bytes: max_event_bytes,
      fields: identityFields(call),
      refused: (why) => rated.warn({ why }, 'the server opened no HTTP+SSE session'),
    });
    return new Peer(pipe, {
      max_pending: MAX_PENDING,
      junk: ignore,
      refused: (method) => telemetry.questionRefused(name, method),
      ended,
    });
  }
}

function ignore(): void {}

const SWEEP_MS = 1_000;
/** A legacy session without a message of its client, which cannot know that it is over. */
const LEGACY_IDLE_MS = 3_600_000;
