import type { Clock } from '../../contract/clock.js';
import type { Facts, Identity } from '../../contract/identity.js';
import type { WrapState } from './wrap-state.js';

/** A component's handler, or what stands before it. May answer at once or later; refuses by throwing a `ComponentRefusal`. */
export type Handler = (input: unknown, context: WrapContext) => Promise<unknown> | unknown;

/** What a wrapper sees of the call. */
export interface WrapContext {
  readonly identity: Identity | undefined;
  readonly facts: Facts;
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
  /** The same call with the `cancelled` and `signal` of `token`: for a handler that is given up before its call is. */
  under(token: HandlerToken): WrapContext;
}

/** How a wrapped handler learns that nobody waits for it. */
export interface HandlerToken {
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
}

/**
 * A limit around one component, on every transport, after the checks of the router and before the handler. `open` is called once for
 * each component and makes the counters of that component; `state` is the server's.
 */
export interface Wrapper {
  readonly name: string;
  open(clock: Clock, state: WrapState): (next: Handler) => Handler;
}

/** The handler with its wrappers around it, the first one outermost. */
export function wrapHandler(handler: Handler, wrappers: readonly Wrapper[], clock: Clock, state: WrapState): Handler {
  return wrappers.reduceRight((next, wrapper) => wrapper.open(clock, state)(next), handler);
}
