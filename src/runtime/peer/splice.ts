/** Puts `text` in the place of the bytes `[from, to)`; an insertion where both are equal. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A copy of `bytes` with the edits made, which are in order and do not overlap. Everything else stays as it is, byte for byte. */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const texts = edits.map(({ text }) => Buffer.from(text));
  let length = bytes.length;
  for (const [index, { from, to }] of edits.entries()) length += (texts[index] as Buffer).length - (to - from);
  const copy = new Uint8Array(length);
  let read = 0;
  let write = 0;
  for (const [index, { from, to }] of edits.entries()) {
    copy.set(bytes.subarray(read, from), write);
    write += from - read;
    copy.set(texts[index] as Buffer, write);
    write += (texts[index] as Buffer).length;
    read = to;
  }
  copy.set(bytes.subarray(read), write);
  return copy;
}

/**
 * JSON text that is one line however its reader splits lines. CR and LF, in JSON only ever white space, become spaces, in place.
 * U+0085, U+2028 and U+2029, which a gate saw inside a string but some servers take for a line end, become escapes: what was
 * judged as one message cannot be read as two.
 */
export function toLine(bytes: Uint8Array): Uint8Array {
  for (let i = bytes.indexOf(LF); i >= 0; i = bytes.indexOf(LF, i + 1)) bytes[i] = SPACE;
  for (let i = bytes.indexOf(CR); i >= 0; i = bytes.indexOf(CR, i + 1)) bytes[i] = SPACE;
  return hasOddEnds(bytes) ? Buffer.from(escapeEnds(bytes)) : bytes;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

function hasOddEnds(bytes: Uint8Array): boolean {
  for (let i = bytes.indexOf(0xe2); i >= 0; i = bytes.indexOf(0xe2, i + 1)) {
    if (bytes[i + 1] === 0x80 && (bytes[i + 2] === 0xa8 || bytes[i + 2] === 0xa9)) return true;
  }
  for (let i = bytes.indexOf(0xc2); i >= 0; i = bytes.indexOf(0xc2, i + 1)) if (bytes[i + 1] === 0x85) return true;
  return false;
}

function escapeEnds(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return text.replace(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
