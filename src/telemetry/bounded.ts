/**
 * A map from short strings to values made on first use, that stops growing: once `limit` keys are known, further ones share
 * the value of `other`. Labels that come through one can never be more than `limit + 1`.
 */
export class Bounded<V> {
  readonly #map = new Map<string, V>();
  readonly #limit: number;
  readonly #make: (key: string) => V;

  constructor(limit: number, make: (key: string) => V) {
    this.#limit = limit;
    this.#make = make;
  }

  get(key: string): V {
    const known = this.#map.get(key);
    if (known !== undefined) return known;
    return this.#add(this.#map.size < this.#limit && isLabelText(key) ? key : 'other');
  }

  #add(key: string): V {
    let value = this.#map.get(key);
    if (value === undefined) {
      value = this.#make(key);
      this.#map.set(key, value);
    }
    return value;
  }
}

/** True for text that may be a label value: at most 128 UTF-16 units, no lone surrogate, no control character. */
export function isLabelText(value: string): boolean {
  return value.length <= 128 && !/[\p{Cs}\p{Cc}]/u.test(value);
}
