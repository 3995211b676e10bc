import type { Call, HeaderList } from '../../contract/runtime.js';
import type { RequestOutcome, StreamKind, Telemetry } from '../../contract/telemetry.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { GatewayError } from '../../errors/error.js';
import type { DrainState } from '../socket/drain.js';

/** Fields of every event stream: never buffered, transformed or cached on its way. */
export const EVENT_HEADERS: HeaderList = [
  'content-type',
  'text/event-stream',
  'cache-control',
  'no-cache, no-transform',
  'x-accel-buffering',
  'no',
];

/** What an event stream that answers this call is; the label `kind`. */
export function streamKind(call: Call | undefined): StreamKind {
  if (call?.kind === 'get_stream') return 'get';
  return call?.method === 'subscriptions/listen' ? 'listen' : 'response';
}

/** How a call that failed is counted. */
export function outcomeOf(error: GatewayError): RequestOutcome {
  if (error.code === 'DEADLINE') return 'timeout';
  if (error.code === 'OVERLOADED' || error.code === 'TOO_MANY_STREAMS') return 'overloaded';
  return error.code.startsWith('UPSTREAM_') ? 'upstream_error' : error.code === 'RUNTIME_FAILED' ? 'rpc_error' : 'refused';
}

/** The `max_subscriptions` slots of one listener, at most `max_subscriptions_per_caller` for one caller: open `subscriptions/listen` and legacy GET streams together. */
export class StreamSlots {
  readonly #max: number;
  readonly #maxPerCaller: number;
  /** Slots by caller; no entry is 0. */
  readonly #callers = new Map<string, number>();
  readonly #telemetry: Telemetry;
  readonly #drain: { readonly state: DrainState };
  #taken = 0;

  constructor(max: number, max_per_caller: number, telemetry: Telemetry, drain: { readonly state: DrainState }) {
    this.#max = max;
    this.#maxPerCaller = max_per_caller;
    this.#telemetry = telemetry;
    this.#drain = drain;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes a slot for `caller`, as of `callerKey`, or says why there is none: all are taken, this caller has its share of them, or the drain would
   * have to end the stream at once. The refusal is counted.
   */
  take(route: string, caller: string): ErrorCode | undefined {
    if (this.#drain.state === 'closing') return this.refused(route);
    if (this.#taken >= this.#max) {
      this.#telemetry.streamRefused(route, 'limit');
      return 'TOO_MANY_STREAMS';
    }
    const own = this.#callers.get(caller) ?? 0;
    if (own >= this.#maxPerCaller) {
      this.#telemetry.callerLimited(route, 'stream');
      return 'TOO_MANY_STREAMS';
    }
    this.#taken++;
    this.#callers.set(caller, own + 1);
    return undefined;
  }

  /** Gives back what `take` gave this caller. */
  give(caller: string): void {
    this.#taken--;
    const own = (this.#callers.get(caller) ?? 0) - 1;
    if (own > 0) this.#callers.set(caller, own);
    else this.#callers.delete(caller);
  }

  /** Counts a stream that the drain refused. */
  refused(route: string): ErrorCode {
    this.#telemetry.streamRefused(route, 'drain');
    return 'DRAINING';
  }
}
