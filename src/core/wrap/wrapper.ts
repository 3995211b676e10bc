import type { Clock } from '../../contract/clock.js';
import type { Facts, Identity } from '../../contract/identity.js';

/**
 * A wrapper refused the call, or gave its handler up. The core answers a tool call with an `isError` result of this text, resources and
 * prompts with JSON-RPC error -32603. One frozen value for each text, without a stack: refusing is cheap.
 */
export class ComponentRefusal extends Error {
  override readonly name = 'ComponentRefusal';
  /** Told to the client. */
  readonly text: string;

  constructor(text: string) {
    super(text);
    this.text = text;
    this.stack = `ComponentRefusal: ${text}`;
    Object.freeze(this);
  }
}

export const TIMED_OUT = new ComponentRefusal('Component timed out');

export const NO_TIMEOUT_WORKER = new ComponentRefusal('Component timeout worker unavailable');

export const CONCURRENCY_LIMIT = new ComponentRefusal('Component concurrency limit reached');

export const RATE_LIMIT = new ComponentRefusal('Component rate limit reached');

export const RATE_KEYS = new ComponentRefusal('Component rate key capacity reached');

const MAX_KEY_LENGTH = 1024;

const MAX_TIMEOUT_WORKERS = 1024;

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

/** Tells a wrapped handler that its caller is gone. */
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

/** What the wrappers of one server share: room for 1 024 handlers that run under a timeout, those that ignored it included. */
export interface WrapState {
  /** Handlers that run under a timeout now. */
  readonly timeout_workers: number;
  /** False: the limit is reached. */
  takeTimeoutWorker(): boolean;
  returnTimeoutWorker(): void;
}

/** Made once for each server value, and held by it. */
export function createWrapState(): WrapState {
  return new State();
}

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

/** A group of calls that share a limit, told by the call: a stable value such as the verified principal, at most 1 024 characters. */
export type KeyOf = (context: WrapContext) => string;

/** The positive integer that was given, or the default. Throws a RangeError that names wrapper and option. */
export function toPositive(
  wrapper: string,
  option: string,
  given: number | undefined,
  otherwise: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  const value = given ?? otherwise;
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? 'a positive integer' : `a positive integer of at most ${max}`;
  throw new RangeError(`${wrapper}: ${option} must be ${range}, not ${String(given)}`);
}

/** The key function in force; without one all calls share one bucket. Its result is checked on each call: the call fails if it is not a key. */
export function toKeyOf(wrapper: string, key: KeyOf | undefined): KeyOf {
  if (key === undefined) return () => '';
  if (typeof key !== 'function') throw new TypeError(`${wrapper}: key must be a function of the context`);
  return (context) => {
    const value: unknown = key(context);
    if (typeof value === 'string' && value.length <= MAX_KEY_LENGTH) return value;
    throw new TypeError(`${wrapper}: key must return a text of at most ${MAX_KEY_LENGTH} characters`);
  };
}

/** Names an option that there is not: a misspelt limit must not be no limit. */
export function checkNames(wrapper: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new TypeError(`${wrapper}: there is no option ${name}; there is ${known.join(', ')}`);
  }
}
