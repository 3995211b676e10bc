/** An empty array. */
export const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Bytes of something that has not ended yet. A single part is kept without copying; more are copied together, growing by doubling. */
export class HeldBytes {
  #bytes: Uint8Array = NO_BYTES;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The first byte; undefined when nothing is held. */
  get first(): number | undefined {
    return this.#length === 0 ? undefined : this.#bytes[0];
  }

  /** Everything that is held; only until the next `append`. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (this.#length === 0) {
      this.#bytes = part;
    } else {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(part, this.#length);
    }
    this.#length = length;
  }

  /** Hands out everything that is held and lets go of it. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#bytes = NO_BYTES;
    this.#length = 0;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, 2 * this.#length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/**
 * The parts of a body that arrives. Up to 64 are kept without copying and joined once; more are copied together, so that a body in
 * one-byte parts costs at most a few times its size and not a buffer a byte.
 */
export class GatheredBytes {
  #parts: Uint8Array[] = [];
  #length = 0;
  #held: HeldBytes | undefined;

  get length(): number {
    return this.#length;
  }

  append(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#held !== undefined) return this.#held.append(part);
    if (this.#parts.push(part) <= MAX_PARTS) return;
    this.#held = new HeldBytes();
    for (const each of this.#parts) this.#held.append(each);
    this.#parts = [];
  }

  /** The first bytes, at most `max`; what was gathered stays. */
  start(max: number): Uint8Array {
    if (this.#held !== undefined) return this.#held.bytes.subarray(0, max);
    const parts: Uint8Array[] = [];
    let left = max;
    for (const part of this.#parts) {
      parts.push(part.subarray(0, left));
      left -= part.length;
      if (left <= 0) break;
    }
    return Buffer.concat(parts);
  }

  /** Hands out everything that was gathered, a single part uncopied, and lets go of it. */
  take(): Buffer {
    const bytes = this.#held?.take() ?? (this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts, this.#length));
    this.clear();
    return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  clear(): void {
    this.#parts = [];
    this.#length = 0;
    this.#held = undefined;
  }
}

const MAX_PARTS = 64;

/** The parts in one array with `between` between two of them; a single part is returned as it is, uncopied. */
export function joinBytes(parts: readonly Uint8Array[], between: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  let length = Math.max(0, parts.length - 1);
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length).fill(between);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length + 1;
  }
  return joined;
}

/** `bytes` without a UTF-8 byte order mark in front. */
export function withoutBom(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
