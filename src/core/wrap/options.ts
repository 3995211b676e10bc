import type { WrapContext } from './wrapper.js';

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

/** The key function in force; without one all calls share one bucket. What it answers is checked on each call: the call fails if it is no key. */
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

const MAX_KEY_LENGTH = 1024;
