/**
 * A text that is looked for in others, from either end, in time linear in what is looked through (Knuth, Morris, Pratt): `indexOf` is
 * not, for substrings that repeat themselves. Positions are where the substring begins; -1: it is not there. What begins within a
 * percent-encoded character is not there.
 */
export class Substring {
  readonly #text: string;
  readonly #reversed: string;
  readonly #borders: Uint16Array;
  readonly #reversedBorders: Uint16Array;

  /** At most 65 535 characters. */
  constructor(text: string) {
    this.#text = text;
    this.#reversed = [...Array(text.length).keys()].map((i) => text.charAt(text.length - 1 - i)).join('');
    this.#borders = toBorders(this.#text);
    this.#reversedBorders = toBorders(this.#reversed);
  }

  get length(): number {
    return this.#text.length;
  }

  atStart(uri: string): number {
    return uri.startsWith(this.#text) ? 0 : -1;
  }

  atEnd(uri: string): number {
    return uri.endsWith(this.#text) ? uri.length - this.length : -1;
  }

  /** The first that begins at `from` or later and ends at `end` or earlier. The substring must not be empty. */
  findFirst(uri: string, from: number, end: number): number {
    const text = this.#text;
    const borders = this.#borders;
    let matched = 0;
    for (let i = from; i < end; i++) {
      const code = uri.charCodeAt(i);
      while (matched > 0 && text.charCodeAt(matched) !== code) matched = borders[matched - 1] as number;
      if (text.charCodeAt(matched) === code) matched += 1;
      if (matched !== text.length) continue;
      if (!isWithinEncoded(uri, i + 1 - matched)) return i + 1 - matched;
      matched = borders[matched - 1] as number;
    }
    return -1;
  }

  /** The last that ends at `end` or earlier. The substring must not be empty. */
  findLast(uri: string, end: number): number {
    const text = this.#reversed;
    const borders = this.#reversedBorders;
    let matched = 0;
    for (let i = end - 1; i >= 0; i--) {
      const code = uri.charCodeAt(i);
      while (matched > 0 && text.charCodeAt(matched) !== code) matched = borders[matched - 1] as number;
      if (text.charCodeAt(matched) === code) matched += 1;
      if (matched !== text.length) continue;
      if (!isWithinEncoded(uri, i)) return i;
      matched = borders[matched - 1] as number;
    }
    return -1;
  }
}

function isWithinEncoded(uri: string, at: number): boolean {
  return uri.charCodeAt(at - 1) === PERCENT || uri.charCodeAt(at - 2) === PERCENT;
}

const PERCENT = 0x25;

/** For each prefix of `text`: the length of its longest proper part that it begins and ends with. */
function toBorders(text: string): Uint16Array {
  const borders = new Uint16Array(text.length);
  for (let i = 1, matched = 0; i < text.length; i++) {
    while (matched > 0 && text.charCodeAt(i) !== text.charCodeAt(matched)) matched = borders[matched - 1] as number;
    if (text.charCodeAt(i) === text.charCodeAt(matched)) matched += 1;
    borders[i] = matched;
  }
  return borders;
}
