import type { Clock, Timer } from '../../contract/clock.js';
import type { EndReason } from '../../contract/telemetry.js';
import { GatewayError } from '../../errors/error.js';
import { MAX_TIMER_MS } from '../../executor/endings.js';

/** Milliseconds. */
export interface CallTimes {
  /** From the start of the call, and again from each progress. */
  readonly request_timeout_ms: number;
  /** In all, however much progress is seen; `request_timeout_ms` if that is longer. */
  readonly request_timeout_max_ms: number;
}

/**
 * How long one call may take, and what stops its work. Its methods are those of `Exchange`, for every exchange. Who owns it looks at
 * `isLate` now and then, or calls `watch`, which costs one timer; an unwatched deadline stops nothing.
 */
export class CallDeadline {
  readonly #clock: Clock;
  readonly #timeout_ms: number;
  /** Monotonic ms. */
  readonly #cap_ms: number;
  #due_ms: number;
  #awaited: string | undefined;
  #cancel: ((reason: EndReason) => void) | undefined;
  #timer: Timer | undefined;

  /** The time begins now. */
  constructor(clock: Clock, { request_timeout_ms, request_timeout_max_ms }: CallTimes) {
    const now_ms = clock.mono_ms();
    this.#clock = clock;
    this.#timeout_ms = request_timeout_ms;
    this.#due_ms = now_ms + request_timeout_ms;
    this.#cap_ms = now_ms + Math.max(request_timeout_ms, request_timeout_max_ms);
  }

  onCancel(cancel: (reason: EndReason) => void): void {
    this.#cancel = cancel;
  }

  waitsFor(detail: string | undefined): void {
    this.#awaited = detail;
  }

  /** The deadline starts again, up to the cap. It is never moved forward. */
  progressed(): void {
    const again_ms = this.#clock.mono_ms() + this.#timeout_ms;
    this.#due_ms = Math.min(Math.max(this.#due_ms, again_ms), this.#cap_ms);
  }

  inputRequested(): void {
    this.#due_ms = this.#cap_ms;
  }

  isLate(now_ms: number): boolean {
    return now_ms >= this.#due_ms;
  }

  /** The error of a call that is late. */
  get error(): GatewayError {
    return new GatewayError('DEADLINE', this.#awaited === undefined ? {} : { detail: this.#awaited });
  }

  /** Runs `late` once when the call is late, unless `end` comes first. */
  watch(late: () => void): void {
    const left_ms = Math.min(Math.max(1, Math.ceil(this.#due_ms - this.#clock.mono_ms())), MAX_TIMER_MS);
    this.#timer = this.#clock.timer(left_ms, () => {
      if (this.isLate(this.#clock.mono_ms())) late();
      else this.watch(late);
    });
  }

  /** Stops the work with what was set last: one call of it at most, so a second stop does nothing. */
  stop(reason: EndReason): void {
    const cancel = this.#cancel;
    this.#cancel = undefined;
    cancel?.(reason);
  }

  /** The call is over: nothing runs any more. With a reason its work is stopped first. */
  end(reason?: EndReason): void {
    this.#timer?.cancel();
    if (reason !== undefined) this.stop(reason);
    this.#cancel = undefined;
  }
}
