/** One DER element: its tag and where its content is. */
export interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

/** The bytes are not the DER that was expected. Caught where a certificate is read; never leaves the gate. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/**
 * Walks DER elements (X.690) inside given bounds: one-byte tags, definite lengths of at most three bytes, nothing past
 * `end`. It only finds its way in certificates that OpenSSL has already parsed; anything unexpected throws DerError.
 */
export class DerReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at === this.#end;
  }

  /** The tag of the next element; undefined at the end. */
  get tag(): number | undefined {
    return this.done ? undefined : this.#bytes[this.#at];
  }

  next(): Element {
    const tag = this.#byte();
    if ((tag & 0x1f) === 0x1f) throw new DerError('long tag');
    const length = this.#length();
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw new DerError('element past its bounds');
    this.#at = end;
    return { tag, start, end };
  }

  /** The next element, which must have this tag. */
  expect(tag: number): Element {
    const element = this.next();
    if (element.tag !== tag) throw new DerError(`tag ${element.tag} where ${tag} was expected`);
    return element;
  }

  /** Enters the next element, which must have this tag. */
  enter(tag: number): DerReader {
    const { start, end } = this.expect(tag);
    return new DerReader(this.#bytes, start, end);
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new DerError('cut short');
    return this.#bytes[this.#at++] as number;
  }

  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0 || count > 3) throw new DerError('indefinite or huge length');
    let length = 0;
    for (let i = 0; i < count; i += 1) length = length * 256 + this.#byte();
    if (length < (count === 1 ? 0x80 : 256 ** (count - 1))) throw new DerError('length not in its shortest form');
    return length;
  }
}
