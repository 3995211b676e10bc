import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Clock, Timer } from '../contract/clock.js';
import type { Delivery } from './collector.js';

/** Limit of waiting spans; further ones are dropped and counted. A batch that is being sent, or sent again, is beside them. */
export const MAX_QUEUED = 4_096;
/** Spans of one export: small enough that writing them as JSON delays no request by much. */
export const MAX_BATCH = 256;
/** How often one batch is sent before it is given up. */
const MAX_ATTEMPTS = 4;
const MAX_PAUSE_MS = 30_000;

/** Why spans were lost. */
export type DropReason = 'queue_full' | 'collector' | 'rejected' | 'shutdown';

export interface SpanQueueOptions {
  readonly clock: Clock;
  /** Longest wait of a finished span before it is sent. */
  readonly interval_ms: number;
  /** Delivers one batch; never rejects. */
  readonly send: (spans: readonly ReadableSpan[], signal: AbortSignal) => Promise<Delivery>;
  readonly exported: (count: number) => void;
  readonly dropped: (reason: DropReason, count: number) => void;
  /** Told of each export that failed, again and again while it does. */
  readonly failed: (why: string) => void;
}

/** Finished spans on their way out: one export at a time, a bounded queue behind it. No request ever waits for it. */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  readonly #abort = new AbortController();
  #waiting: ReadableSpan[] = [];
  /** The batch of a failed export that is tried again. */
  #again: ReadableSpan[] | undefined;
  #attempts = 0;
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #closing = false;
  #closed = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#closed || this.#waiting.length >= MAX_QUEUED) return this.#options.dropped('queue_full', 1);
    this.#waiting.push(span);
    if (this.#again === undefined && this.#waiting.length >= MAX_BATCH) this.#pump();
    else if (this.#timer === undefined) this.#later(this.#options.interval_ms);
  }

  async forceFlush(): Promise<void> {
    this.#pump();
    await this.#sending;
  }

  async shutdown(): Promise<void> {
    await this.close(0);
  }

  /** Sends what waits, at the latest until `deadline_ms`; the rest is counted as dropped. */
  async close(deadline_ms: number): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    const late = this.#options.clock.timer(deadline_ms, () => this.#abort.abort());
    // A collector that is down gets one last try, without the rest of its pause.
    while (this.#left() > 0 && !this.#abort.signal.aborted) {
      this.#pump();
      await Promise.race([this.#sending, aborted(this.#abort.signal)]);
    }
    late.cancel();
    this.#abort.abort();
    this.#timer?.cancel();
    this.#closed = true;
    if (this.#left() > 0) this.#options.dropped('shutdown', this.#left());
    this.#waiting = [];
    this.#again = undefined;
  }

  #left(): number {
    return this.#waiting.length + (this.#again?.length ?? 0);
  }

  #pump(): void {
    if (this.#sending !== undefined || this.#closed) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#sending = this.#drain().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Sends batch after batch while they are full, then waits for the next turn. */
  async #drain(): Promise<void> {
    const { interval_ms, send, failed } = this.#options;
    let pause_ms = interval_ms;
    do {
      const batch = this.#again ?? this.#waiting.splice(0, MAX_BATCH);
      if (batch.length === 0) return;
      this.#again = batch;
      this.#attempts += 1;
      const delivery = await send(batch, this.#abort.signal);
      if (this.#closed) return;
      if (delivery.kind !== 'delivered') failed(delivery.why);
      if (delivery.kind === 'later' && this.#attempts < MAX_ATTEMPTS && !this.#closing) {
        pause_ms = Math.min(MAX_PAUSE_MS, Math.max(delivery.after_ms, interval_ms * 2 ** this.#attempts));
        break;
      }
      this.#settle(batch.length, delivery);
    } while (this.#waiting.length >= MAX_BATCH || (this.#closing && this.#waiting.length > 0));
    if (this.#left() > 0 && !this.#closing) this.#later(pause_ms);
  }

  #later(pause_ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.timer(pause_ms, () => {
      this.#timer = undefined;
      this.#pump();
    });
  }

  #settle(count: number, delivery: Delivery): void {
    const { exported, dropped } = this.#options;
    this.#again = undefined;
    this.#attempts = 0;
    if (delivery.kind !== 'delivered') return dropped('collector', count);
    const rejected = Math.min(count, delivery.rejected);
    exported(count - rejected);
    if (rejected > 0) dropped('rejected', rejected);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}
