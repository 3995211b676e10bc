import { DecisionFault } from './fault.js';

/** Scopes one identity may have. */
export const MAX_SCOPES = 1_000;

/** A set of scopes that nobody can change any more. */
export class Scopes extends Set<string> {
  static readonly none: Scopes = new Scopes([]);

  constructor(names: Iterable<unknown>) {
    super();
    for (const name of names) {
      if (typeof name !== 'string') throw new DecisionFault('a scope is not a string');
      if (this.size === MAX_SCOPES) throw new DecisionFault('there are too many scopes');
      super.add(name);
    }
    Object.freeze(this);
  }

  override add(): never {
    throw new TypeError('the scopes of an identity are frozen');
  }
  override delete(): never {
    throw new TypeError('the scopes of an identity are frozen');
  }
  override clear(): never {
    throw new TypeError('the scopes of an identity are frozen');
  }
}
