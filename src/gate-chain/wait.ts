import type { Clock } from '../contract/clock.js';
import type { GateContext, RouteInfo } from '../contract/gate.js';
import type { Facts, Identity } from '../contract/identity.js';
import type { RequestTrace } from '../contract/tracing.js';

/** What the chains know of one request while they decide; the listener owns it. */
export interface JudgedRequest {
  /** Set by the chain while a gate waits; the listener calls it when the client leaves. */
  abort: (() => void) | undefined;
  /** Undefined: tracing is off. */
  readonly trace?: RequestTrace | undefined;
}

/** How waiting for a gate ended. `late` and `left` have aborted the gate's signal; whatever it says afterwards is dropped. */
export type GateSettled =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'late' }
  | { readonly kind: 'left' };

/** Waits for a gate's promise until its deadline or until the client leaves. Never rejects; the timer is gone when it resolves. */
export function waitFor(
  answer: PromiseLike<unknown>,
  timeout_ms: number,
  clock: Clock,
  judged: JudgedRequest,
  context: Context,
): Promise<GateSettled> {
  return new Promise((resolve) => {
    let open = true;
    const end = (settled: GateSettled): void => {
      if (!open) return;
      open = false;
      timer.cancel();
      judged.abort = undefined;
      if (settled.kind === 'late') context.abort('the gate is late');
      if (settled.kind === 'left') context.abort('the client left');
      resolve(settled);
    };
    const timer = clock.timer(timeout_ms, () => end({ kind: 'late' }));
    judged.abort = () => end({ kind: 'left' });
    Promise.resolve(answer).then(
      (value) => end({ kind: 'value', value }),
      (error: unknown) => end({ kind: 'error', error }),
    );
  });
}

/** What one gate sees of one request. Its signal costs nothing until somebody asks for it. */
export class Context implements GateContext {
  readonly identity: Identity | undefined;
  readonly facts: Facts;
  readonly route: RouteInfo;
  #controller: AbortController | undefined;

  constructor(identity: Identity | undefined, facts: Facts, route: RouteInfo) {
    this.identity = identity;
    this.facts = facts;
    this.route = route;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Ends what the gate still waits for; also when it asks for the signal only later. */
  abort(reason: string): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new Error(reason));
  }
}
