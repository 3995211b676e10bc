import type { ServerResponse } from 'node:http';
import type { Clock } from '../../contract/clock.js';
import type { Limits } from '../../contract/limits.js';
import type { AnswerOutcome, EventFields } from '../../contract/runtime.js';
import type { EndReason, StreamKind, Telemetry } from '../../contract/telemetry.js';
import { encodeSse, SSE_COMMENT } from '../../wire/sse.js';
import { ResponseWriter } from './response-writer.js';

/** Told once when a stream is over on our side. */
export type StreamEnded = (reason: EndReason, outcome: AnswerOutcome | undefined, rpc_code: number | undefined) => void;

/** A long JSON answer on its way to a reader that may be slow. */
export class AnswerStream {
  protected readonly writer: ResponseWriter;
  protected over = false;
  readonly #response: ServerResponse;
  readonly #ended: StreamEnded;
  readonly #moved: () => void;

  constructor(response: ServerResponse, limits: Limits, ended: StreamEnded, moved: () => void) {
    this.writer = new ResponseWriter(response, limits);
    this.#response = response;
    this.#ended = ended;
    this.#moved = moved;
  }

  get buffered_bytes(): number {
    return this.writer.buffered_bytes;
  }

  write(chunk: Uint8Array): boolean {
    if (this.over) return false;
    this.#moved();
    // One event may be larger than the bound, but nothing may be queued behind it.
    if (this.writer.overflows) {
      this.end('slow_consumer');
      return false;
    }
    return this.writer.write(chunk);
  }

  onDrain(resume: () => void): void {
    this.writer.onDrain(resume);
  }

  end(reason: EndReason, outcome?: AnswerOutcome, rpc_code?: number): void {
    if (this.over) return;
    this.gone(reason);
    this.#ended(reason, outcome, rpc_code);
    // A JSON answer that was cut must not look whole: its connection is destroyed.
    if (reason === 'source' || this instanceof EventStream) this.#response.end();
    else this.#response.destroy();
  }

  /** The reader left, or the stream ends now: nothing more is written. */
  gone(_reason: EndReason): void {
    this.over = true;
  }

  tick(now_ms: number): void {
    if (this.writer.check(now_ms) === 'slow_consumer') this.end('slow_consumer');
  }
}

export interface EventStreamOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly route: string;
  readonly kind: StreamKind;
  /** Wall clock, ms: the identity that opened the stream ends then, and so does the stream. */
  readonly expires_at_ms: number | undefined;
  readonly ended: StreamEnded;
}

/** An open event stream: whole events only, keep-alive comments in silence, an end with a reason that is counted once. */
export class EventStream extends AnswerStream {
  readonly #options: EventStreamOptions;
  readonly #opened_ms: number;
  #written_ms: number;

  constructor(response: ServerResponse, options: EventStreamOptions) {
    super(response, options.limits, options.ended, ignore);
    this.#options = options;
    this.#opened_ms = this.#written_ms = options.clock.mono_ms();
    options.telemetry.streamOpened(options.route, options.kind);
  }

  override write(message: Uint8Array | string, fields?: EventFields): boolean {
    if (this.over) return false;
    this.#written_ms = this.#options.clock.mono_ms();
    this.#options.telemetry.streamEvents(this.#options.route, this.#options.kind, 1);
    return super.write(encodeSse(message, fields));
  }

  /** Writes one last message and ends. */
  last(message: Uint8Array | string, reason: EndReason, outcome?: AnswerOutcome, rpc_code?: number): void {
    if (this.over) return;
    this.write(message);
    this.end(reason, outcome, rpc_code);
  }

  override gone(reason: EndReason): void {
    if (this.over) return;
    super.gone(reason);
    const { telemetry, route, kind, clock } = this.#options;
    telemetry.streamClosed(route, kind, reason, (clock.mono_ms() - this.#opened_ms) / 1000);
  }

  override tick(now_ms: number): void {
    super.tick(now_ms);
    if (this.over) return;
    const { expires_at_ms, clock, limits } = this.#options;
    if (expires_at_ms !== undefined && clock.now_ms() >= expires_at_ms) return this.end('identity_expired');
    if (limits.sse_keepalive_ms > 0 && now_ms - this.#written_ms >= limits.sse_keepalive_ms && !this.writer.blocked) {
      this.#written_ms = now_ms;
      this.writer.write(SSE_COMMENT);
    }
  }
}

function ignore(): void {}
