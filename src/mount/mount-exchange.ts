import type { Clock, Timer } from '../contract/clock.js';
import type { Call } from '../contract/runtime.js';
import type { PreparedCall } from '../core/http/admit.js';
import { ValueExchange } from '../core/http/value-exchange.js';
import { CallDeadline, type CallTimes } from '../core/run/call-deadline.js';
import { MAX_TIMER_MS } from '../executor/endings.js';

export interface MountExchangeOptions extends CallTimes {
  readonly clock: Clock;
  readonly max_stream_buffer_bytes: number;
  /** The client instance whose cancellations apply to this request; undefined: none. */
  readonly scope: string | undefined;
  readonly ended: (exchange: MountExchange) => void;
}

/** One call of a mount: as values, with a deadline and three ways to end it early. */
export class MountExchange extends ValueExchange {
  readonly scope: string | undefined;
  readonly listens: boolean;
  readonly #call: Call;
  readonly #deadline: CallDeadline;
  #expiry: Timer | undefined;

  constructor(prepared: PreparedCall, options: MountExchangeOptions) {
    const deadline = new CallDeadline(options.clock, options);
    super(prepared, options.max_stream_buffer_bytes, deadline, () => {
      this.#expiry?.cancel();
      options.ended(this);
    });
    this.scope = options.scope;
    this.#call = prepared.call;
    this.#deadline = deadline;
    this.listens = prepared.call.method === 'subscriptions/listen';
    const expires_ms = prepared.call.identity?.expires_at_ms;
    if (!this.listens) deadline.watch(() => this.#late());
    else if (expires_ms !== undefined) this.#untilExpiry(options.clock, expires_ms);
  }

  /** Whether a cancellation of this scope that names this id, parsed, means this request. */
  isOf(scope: string, id: unknown): boolean {
    return this.scope === scope && this.#call.id !== undefined && JSON.parse(this.#call.id) === id;
  }

  /** The client left or cancelled. An answer that has not begun is 202, without a body. */
  leave(): void {
    if (this.ended) return;
    this.#deadline.stop('client');
    this.accept();
    this.abandon('client');
  }

  /** The host closes: a subscription is completed. */
  complete(): void {
    this.#deadline.stop('drain');
    this.leave();
  }

  #late(): void {
    this.#deadline.stop('deadline');
    this.fail(this.#deadline.error);
  }

  /** Ends a subscription when its caller's credential expires. */
  #untilExpiry(clock: Clock, expires_ms: number): void {
    const left_ms = Math.min(Math.max(1, Math.ceil(expires_ms - clock.now_ms())), MAX_TIMER_MS);
    this.#expiry = clock.timer(left_ms, () => {
      if (clock.now_ms() < expires_ms) this.#untilExpiry(clock, expires_ms);
      else this.leave();
    });
  }
}
