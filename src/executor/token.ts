import type { CancelReason, CancelToken } from './executor.js';
import { toFault } from './fault.js';

/** The executor's side of a cancel token. An `AbortController` costs more than a call does, so there is none until it is asked for. */
export class Token implements CancelToken {
  #reason: CancelReason | undefined;
  #runs: (() => void)[] | undefined;
  #controller: AbortController | undefined;

  get cancelled(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): CancelReason | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(toFault(this.#reason));
    }
    return this.#controller.signal;
  }

  onCancel(run: () => void): void {
    if (this.#reason !== undefined) runSafely(run);
    else if (this.#runs === undefined) this.#runs = [run];
    else this.#runs.push(run);
  }

  cancel(reason: CancelReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const runs = this.#runs;
    this.#runs = undefined;
    if (runs !== undefined) for (const run of runs) runSafely(run);
    this.#controller?.abort(toFault(reason));
  }
}

function runSafely(run: () => void): void {
  try {
    run();
  } catch {
    // The work of one call must not keep the others from being told.
  }
}
