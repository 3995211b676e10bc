import type { AnswerOutcome, EventFields, MessageWriter } from '../../contract/runtime.js';
import type { EndReason } from '../../contract/telemetry.js';

/** What a writer of bytes and one of messages have in common. */
interface Target extends Pick<MessageWriter, 'onDrain' | 'end'> {
  write(bytes: Uint8Array, fields?: EventFields): boolean;
}

/**
 * Stands before an `AnswerWriter` or a `MessageWriter` and keeps its promise: after a write that said "slow" nothing is written until
 * the reader has caught up. What one read of the upstream still holds waits here, at most a read and an event; an end waits behind it.
 */
export class BackpressureWriter {
  readonly #writer: Target;
  readonly #source: { resume(): void };
  #pending: { readonly bytes: Uint8Array; readonly fields: EventFields | undefined }[] | undefined;
  #end: (() => void) | undefined;
  #blocked = false;

  /** `source.resume` asks the upstream for more. */
  constructor(writer: Target, source: { resume(): void }) {
    this.#writer = writer;
    this.#source = source;
    writer.onDrain(() => this.#drained());
  }

  /** True: read no more of the upstream until `resume` is called. */
  get blocked(): boolean {
    return this.#blocked;
  }

  write(bytes: Uint8Array, fields?: EventFields): void {
    if (this.#blocked) (this.#pending ??= []).push({ bytes, fields });
    else this.#blocked = !this.#writer.write(bytes, fields);
  }

  end(reason: EndReason, outcome?: AnswerOutcome, rpc_code?: number): void {
    if (this.#pending === undefined) this.#writer.end(reason, outcome, rpc_code);
    else this.#end = () => this.#writer.end(reason, outcome, rpc_code);
  }

  /** Ends now, however slow the reader is: what waits is dropped, and `last` is written instead. */
  cut(last: Uint8Array | undefined, reason: EndReason): void {
    this.#pending = this.#end = undefined;
    if (last !== undefined) this.#writer.write(last);
    this.#writer.end(reason);
  }

  #drained(): void {
    this.#blocked = false;
    const waiting = this.#pending;
    this.#pending = undefined;
    for (const { bytes, fields } of waiting ?? []) this.write(bytes, fields);
    if (this.#blocked) return;
    this.#end?.();
    this.#source.resume();
  }
}
