import type { Clock, Timer } from '../contract/clock.js';
import type { AnswerWriter, Call, EndReason, HeaderList } from '../contract/runtime.js';
import type { PreparedCall } from '../core/http/admit.js';
import { ValueExchange } from '../core/http/value-exchange.js';
import { listenEnd } from '../core/run/listen.js';
import { GatewayError } from '../errors/error.js';

export interface MountExchangeOptions {
  readonly clock: Clock;
  readonly request_timeout_ms: number;
  readonly request_timeout_max_ms: number;
  readonly max_stream_buffer_bytes: number;
  /** Whose cancellations mean this request; undefined: nobody's. */
  readonly scope: string | undefined;
  readonly ended: (exchange: MountExchange) => void;
}

/** One call of a mount: as values, with a deadline and three ways to end it early. */
export class MountExchange extends ValueExchange {
  readonly scope: string | undefined;
  readonly listens: boolean;
  readonly #call: Call;
  readonly #options: MountExchangeOptions;
  readonly #left = new AbortController();
  readonly #cap_ms: number;
  #due_ms: number;
  #cancel: ((reason: EndReason) => void) | undefined;
  #writer: AnswerWriter | undefined;
  #timer: Timer | undefined;

  constructor(prepared: PreparedCall, options: MountExchangeOptions) {
    super(prepared, options.max_stream_buffer_bytes, () => {
      this.#timer?.cancel();
      options.ended(this);
    });
    this.scope = options.scope;
    this.#call = prepared.call;
    this.listens = prepared.call.method === 'subscriptions/listen';
    this.#options = options;
    const now_ms = options.clock.mono_ms();
    this.#due_ms = now_ms + options.request_timeout_ms;
    this.#cap_ms = now_ms + Math.max(options.request_timeout_ms, options.request_timeout_max_ms);
    this.leaveWith(this.#left.signal);
    this.#watch();
  }

  override onCancel(cancel: (reason: EndReason) => void): void {
    this.#cancel = cancel;
    super.onCancel(cancel);
  }

  override progressed(): void {
    this.#due_ms = Math.min(this.#options.clock.mono_ms() + this.#options.request_timeout_ms, this.#cap_ms);
  }

  override inputRequested(): void {
    this.#due_ms = this.#cap_ms;
  }

  override events(headers: HeaderList): AnswerWriter | undefined {
    this.#writer = super.events(headers);
    return this.#writer;
  }

  /** Whether a cancellation of this scope that names this id, parsed, means this request. */
  isOf(scope: string, id: unknown): boolean {
    return this.scope === scope && this.#call.id !== undefined && JSON.parse(this.#call.id) === id;
  }

  /** Nobody wants the answer: the client left, or said so. What has not begun is answered 202, without a body. */
  leave(): void {
    if (this.ended) return;
    this.#cancel?.('client');
    this.accept();
    this.#left.abort();
  }

  /** The host closes: a subscription is completed. */
  complete(): void {
    if (this.ended || this.#writer === undefined) return this.leave();
    this.#cancel?.('drain');
    if (this.ended) return;
    this.#writer.write(Buffer.from(`event: message\ndata: ${listenEnd(this.#call.id as string)}\n\n`));
    this.#writer.end('drain');
  }

  /** Ends a call that is late, or a subscription whose caller's credential has expired. */
  #watch(): void {
    const { clock } = this.#options;
    const expires_ms = this.#call.identity?.expires_at_ms;
    const left_ms = this.listens ? (expires_ms ?? Number.POSITIVE_INFINITY) - clock.now_ms() : this.#due_ms - clock.mono_ms();
    if (left_ms === Number.POSITIVE_INFINITY || this.ended) return;
    this.#timer = clock.timer(Math.min(Math.max(1, Math.ceil(left_ms)), MAX_TIMER_MS), () => {
      if (this.listens ? clock.now_ms() < (expires_ms ?? 0) : clock.mono_ms() < this.#due_ms) return this.#watch();
      if (this.listens) return this.leave();
      this.#cancel?.('deadline');
      this.fail(new GatewayError('DEADLINE'));
    });
  }
}

const MAX_TIMER_MS = 2_147_483_647;
