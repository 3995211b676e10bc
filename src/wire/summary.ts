import { fromHeld, knownKey, plainEnd, utf8Text } from './keys.js';

export { sameId, spellsId, withId } from './id.js';

/** What a JSON-RPC message that passes by turned out to be. */
export interface AnswerVerdict {
  /** `other`: no JSON object, or one without method, result and error. */
  readonly kind: 'response' | 'notification' | 'request' | 'other';
  /** Raw JSON text; undefined when absent, null or longer than 2 048 bytes. */
  readonly id: string | undefined;
  /** First and after-last byte of the value of `id`, a null too, in all that was pushed; -1 when there is none or it has not ended. */
  readonly id_from: number;
  readonly id_to: number;
  readonly method: string | undefined;
  readonly outcome: 'ok' | 'tool_error' | 'rpc_error';
  /** `error.code`, when it is an integer. */
  readonly rpc_code: number | undefined;
  /** The message is `notifications/progress`. */
  readonly progress: boolean;
  /** One object whose braces close, with one `id` at most, and nothing after it. */
  readonly complete: boolean;
}

/** Judges a whole message. */
export function judgeAnswer(bytes: Uint8Array): AnswerVerdict {
  const probe = new AnswerSummary();
  probe.push(bytes);
  return probe.finish();
}

/**
 * Judges a message that passes by in chunks of any size, in constant memory: it holds no more than one key or id. It looks for
 * `id`, `method`, `result.isError` and `error.code` at any key order and trusts that the rest is JSON; it never judges requests
 * of clients (that is `scanMessage`).
 */
export class AnswerSummary {
  #depth = 0;
  /** Deepest level whose members are looked at: 1, or 2 inside `result` and `error`. */
  #watched = 1;
  #string = false;
  #escaped = false;
  #broken = false;
  #closed = false;
  /** The first value is not an object. */
  #foreign = false;
  /** The next string at a watched level is a key. */
  #at_key = false;
  #outer_key = '';
  #key = '';
  /** Bytes of the key or value that is being held, one character each. */
  #held = '';
  #holding = false;
  #id: string | undefined;
  #has_id = false;
  #id_from = -1;
  #id_to = -1;
  /** Bytes that were pushed before the current chunk. */
  #before = 0;
  #method: string | undefined;
  #has_result = false;
  #has_error = false;
  #is_error = false;
  #rpc_code: number | undefined;

  push(chunk: Uint8Array): void {
    let i = 0;
    while (i < chunk.length) {
      if (this.#string) i = this.#holding ? this.#holdString(chunk, i) : this.#passString(chunk, i);
      else if (this.#depth > this.#watched) i = this.#passNested(chunk, i);
      else this.#structure(chunk[i]!, i++);
    }
    this.#before += chunk.length;
  }

  /** What is known so far; all of it once everything was pushed. */
  finish(): AnswerVerdict {
    const method = this.#method;
    const answered = this.#has_result || this.#has_error;
    const is_response = method === undefined && answered && !this.#foreign;
    return {
      kind: is_response
        ? 'response'
        : method === undefined || this.#foreign
          ? 'other'
          : this.#id === undefined
            ? 'notification'
            : 'request',
      id: this.#id,
      id_from: this.#id_from,
      id_to: this.#id_to,
      method,
      outcome: !is_response ? 'ok' : this.#has_error ? 'rpc_error' : this.#is_error ? 'tool_error' : 'ok',
      rpc_code: is_response && this.#has_error ? this.#rpc_code : undefined,
      progress: method === 'notifications/progress',
      complete: this.#closed && !this.#broken,
    };
  }

  /** One byte outside strings at a watched level. */
  #structure(c: number, at: number): void {
    switch (c) {
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        this.#endScalar(at);
        return;
      case 0x22:
        this.#inObject();
        this.#string = true;
        this.#held = '';
        this.#holding = this.#at_key || this.#wanted();
        if (!this.#at_key) this.#valueStarts(c, at);
        return;
      case 0x7b:
      case 0x5b:
        this.#open(c, at);
        return;
      case 0x7d:
      case 0x5d:
        this.#endScalar(at);
        this.#close();
        return;
      case 0x2c:
        this.#endScalar(at);
        this.#at_key = true;
        return;
      case 0x3a:
        this.#at_key = false;
        return;
      default:
        this.#inObject();
        if (this.#held === '') this.#valueStarts(c, at);
        if (this.#held.length <= MAX_HELD) this.#held += String.fromCharCode(c);
    }
  }

  /** A value that stands outside every object: the message is none, or something follows it. */
  #inObject(): void {
    if (this.#depth > 0) return;
    this.#broken = true;
    this.#foreign ||= !this.#closed;
  }

  #open(c: number, at: number): void {
    if (c !== 0x7b || this.#closed) this.#inObject();
    this.#valueStarts(c, at);
    this.#depth++;
    if (this.#depth === 2 && c === 0x7b && (this.#key === 'result' || this.#key === 'error')) {
      this.#outer_key = this.#key;
      this.#watched = 2;
    }
    this.#at_key = true;
    this.#key = '';
  }

  #close(): void {
    this.#depth--;
    if (this.#depth === 1) this.#watched = 1;
    if (this.#depth === 0) this.#closed = true;
    if (this.#depth < 0) this.#broken = true;
    this.#at_key = false;
    this.#key = '';
  }

  /** The value of the current key is one that is kept. */
  #wanted(): boolean {
    return this.#depth === 1 && (this.#key === 'id' || this.#key === 'method');
  }

  #valueStarts(c: number, at: number): void {
    if (this.#depth !== 1) return;
    if (this.#key === 'id') {
      // Of two ids one reader takes the first, another the last.
      this.#broken ||= this.#has_id;
      this.#has_id = true;
      this.#id_from = this.#before + at;
    } else if (this.#key === 'result') this.#has_result = true;
    else if (this.#key === 'error') this.#has_error = c !== 0x6e;
  }

  /** A string ended that was held: a key or a kept value. */
  #endHeld(end: number): void {
    const raw = this.#held.length > MAX_HELD ? undefined : this.#held;
    this.#held = '';
    if (this.#at_key) this.#key = raw === undefined ? '' : (fromHeld(raw) ?? '');
    else if (this.#key === 'id') {
      this.#id = raw === undefined ? undefined : `"${utf8Text(raw)}"`;
      this.#id_to = this.#before + end;
    } else this.#method = raw === undefined ? undefined : fromHeld(raw);
  }

  #endScalar(at: number): void {
    const raw = this.#held;
    if (raw === '') return;
    this.#held = '';
    if (this.#depth === 1 && this.#key === 'id') {
      this.#id = raw === 'null' || raw.length > MAX_HELD ? undefined : raw;
      this.#id_to = this.#before + at;
    }
    if (this.#depth !== 2) return;
    if (this.#outer_key === 'result' && this.#key === 'isError') this.#is_error = raw === 'true';
    if (this.#outer_key === 'error' && this.#key === 'code') this.#rpc_code = /^-?[0-9]{1,15}$/.test(raw) ? Number(raw) : undefined;
  }

  #holdString(chunk: Uint8Array, at: number): number {
    if (this.#at_key && this.#held === '' && !this.#escaped) {
      const end = plainEnd(chunk, at);
      if (end >= 0) {
        this.#string = this.#holding = false;
        this.#key = knownKey(chunk, at, end);
        return end + 1;
      }
    }
    for (let i = at; i < chunk.length; i++) {
      const c = chunk[i]!;
      if (this.#escaped) this.#escaped = false;
      else if (c === 0x5c) this.#escaped = true;
      else if (c === 0x22) {
        this.#string = false;
        this.#holding = false;
        this.#endHeld(i + 1);
        return i + 1;
      }
      if (this.#held.length <= MAX_HELD) this.#held += String.fromCharCode(c);
    }
    return chunk.length;
  }

  /** To the end of a string of no interest: byte by byte while it is short, then from quote to quote. */
  #passString(chunk: Uint8Array, at: number): number {
    let i = at;
    if (this.#escaped) {
      this.#escaped = false;
      i++;
    }
    while (i < chunk.length) {
      const near = Math.min(i + 32, chunk.length);
      while (i < near) {
        const c = chunk[i]!;
        if (c === 0x22) {
          this.#string = false;
          return i + 1;
        }
        i += c === 0x5c ? 2 : 1;
      }
      if (i >= chunk.length) break;
      const quote = chunk.indexOf(0x22, i);
      const end = quote < 0 ? chunk.length : quote;
      let slashes = end;
      while (slashes > i && chunk[slashes - 1] === 0x5c) slashes--;
      i = end + ((end - slashes) % 2);
      if (quote >= 0 && i === quote) {
        this.#string = false;
        return quote + 1;
      }
    }
    this.#escaped = i > chunk.length;
    return chunk.length;
  }

  /** Inside a value of no interest only strings and brackets count. */
  #passNested(chunk: Uint8Array, at: number): number {
    for (let i = at; i < chunk.length; i++) {
      const c = NESTED[chunk[i]!]!;
      if (c === 0) continue;
      if (c === QUOTE) {
        this.#string = true;
        return i + 1;
      }
      if (c === OPENS) this.#depth++;
      else if (--this.#depth === this.#watched) {
        this.#at_key = false;
        this.#key = '';
        return i + 1;
      }
    }
    return chunk.length;
  }
}

const MAX_HELD = 2048;
const [QUOTE, OPENS, CLOSES] = [1, 2, 3];
const NESTED = new Uint8Array(256);
NESTED[0x22] = QUOTE;
NESTED[0x7b] = NESTED[0x5b] = OPENS;
NESTED[0x7d] = NESTED[0x5d] = CLOSES;
