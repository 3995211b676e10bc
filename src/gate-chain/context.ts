import type { GateContext, RouteInfo } from '../contract/gate.js';
import type { Facts, Identity } from '../contract/identity.js';

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
