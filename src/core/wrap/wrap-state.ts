/** What the wrappers of one server share: room for 1 024 handlers that run under a timeout, those that ignored it included. */
export interface WrapState {
  /** Handlers that run under a timeout now. */
  readonly timeout_workers: number;
  /** False: there is no room. */
  takeTimeoutWorker(): boolean;
  returnTimeoutWorker(): void;
}

/** Made once for each server value, and held by it. */
export function createWrapState(): WrapState {
  return new State();
}

const MAX_TIMEOUT_WORKERS = 1024;

class State implements WrapState {
  #timeoutWorkers = 0;

  get timeout_workers(): number {
    return this.#timeoutWorkers;
  }

  takeTimeoutWorker(): boolean {
    if (this.#timeoutWorkers >= MAX_TIMEOUT_WORKERS) return false;
    this.#timeoutWorkers += 1;
    return true;
  }

  returnTimeoutWorker(): void {
    this.#timeoutWorkers -= 1;
  }
}
