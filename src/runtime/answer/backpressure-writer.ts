import type { AnswerOutcome, AnswerWriter, EndReason } from '../../contract/runtime.js';

/**
 * Stands before an `AnswerWriter` and keeps its promise: after a write that said "slow" nothing is written until the reader has
 * caught up. What one read of the upstream still holds waits here, at most a read and an event; an end waits behind it.
 */
export class BackpressureWriter {
  readonly #writer: AnswerWriter;
  readonly #source: { resume(): void };
  #pending: Uint8Array[] | undefined;
  #end: (() => void) | undefined;
  #blocked = false;

  /** `source.resume` asks the upstream for more. */
  constructor(writer: AnswerWriter, source: { resume(): void }) {
    this.#writer = writer;
    this.#source = source;
    writer.onDrain(() => this.#drained());
  }

  /** True: read no more of the upstream until `resume` is called. */
  get blocked(): boolean {
    return this.#blocked;
  }

  write(bytes: Uint8Array): void {
    if (this.#blocked) (this.#pending ??= []).push(bytes);
    else this.#blocked = !this.#writer.write(bytes);
  }

  end(reason: EndReason, outcome?: AnswerOutcome, rpc_code?: number): void {
    if (this.#pending === undefined) this.#writer.end(reason, outcome, rpc_code);
    else this.#end = () => this.#writer.end(reason, outcome, rpc_code);
  }

  #drained(): void {
    this.#blocked = false;
    const waiting = this.#pending;
    this.#pending = undefined;
    for (const bytes of waiting ?? []) this.write(bytes);
    if (this.#blocked) return;
    this.#end?.();
    this.#source.resume();
  }
}
