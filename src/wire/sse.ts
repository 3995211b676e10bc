import type { EventFields } from '../contract/runtime.js';
import { HeldBytes, joinBytes, NO_BYTES, withoutBom } from './bytes.js';

export interface SseEvent {
  /** The data lines, joined by LF, without one at the end. Part of a pushed chunk when one chunk had the whole line. */
  readonly data: Uint8Array;
  /** False for an event of `id` or `retry` only, which a browser would not dispatch but a relay passes on. */
  readonly has_data: boolean;
  /** The event's type when it is not the default. */
  readonly event: string | undefined;
  /** The `id` field of this very event; empty resets the client's last event id. */
  readonly id: string | undefined;
  /** Milliseconds. */
  readonly retry: number | undefined;
}

export interface SseParserOptions {
  /** Most bytes of one event's data, which has at most 4 096 lines. A larger event is reported once, never held, and skipped to its blank line. */
  readonly max_event_bytes: number;
  onEvent(event: SseEvent): void;
  onTooLarge(): void;
}

/**
 * Parses an event stream as the WHATWG does (HTML, "Parsing an event stream"), in chunks of any size: BOM, comments, LF, CR and
 * CRLF, several data lines. An event without its closing blank line is never dispatched. A pushed chunk must not change while
 * an event that began in it is in use.
 */
export class SseParser {
  readonly #options: SseParserOptions;
  /** The line that has not ended yet. */
  readonly #line = new HeldBytes();
  /** The line that has not ended is a comment or too large: it is not empty, and nothing of it is held. */
  #dropping = false;
  #after_cr = false;
  #first = true;
  #too_large = false;
  #data: Uint8Array[] = [];
  #data_bytes = 0;
  #event: string | undefined;
  #id: string | undefined;
  #retry: number | undefined;

  constructor(options: SseParserOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    let from = this.#after_cr && chunk[0] === LF ? 1 : 0;
    this.#after_cr = false;
    let lf = chunk.indexOf(LF, from);
    let cr = chunk.indexOf(CR, from);
    while (lf >= 0 || cr >= 0) {
      const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
      this.#endLine(chunk, from, end);
      from = end + 1;
      if (end === cr) {
        this.#after_cr = from === chunk.length;
        if (chunk[from] === LF) from++;
        cr = chunk.indexOf(CR, from);
      }
      if (lf >= 0 && lf < from) lf = chunk.indexOf(LF, from);
    }
    if (from < chunk.length && !this.#dropping) this.#holdLine(from === 0 ? chunk : chunk.subarray(from));
  }

  #holdLine(rest: Uint8Array): void {
    this.#line.append(rest);
    const comment = this.#line.first === COLON;
    if (!comment && this.#data_bytes + this.#line.length <= this.#options.max_event_bytes + SLACK_BYTES) return;
    this.#line.clear();
    this.#dropping = true;
    if (!comment) this.#refuse();
  }

  #endLine(chunk: Uint8Array, from: number, end: number): void {
    if (this.#dropping) {
      this.#dropping = false;
      this.#first = false;
      return;
    }
    let line = chunk.subarray(from, end);
    if (this.#line.length > 0) {
      this.#line.append(line);
      line = this.#line.take();
    }
    if (this.#first) line = withoutBom(line);
    this.#first = false;
    if (line.length === 0) this.#dispatch();
    else if (!this.#too_large && line[0] !== COLON) this.#field(line);
  }

  #field(line: Uint8Array): void {
    if (isField(line, DATA)) {
      const value = fieldValue(line, DATA.length);
      this.#data_bytes += value.length + (this.#data.length > 0 ? 1 : 0);
      this.#data.push(value);
      if (this.#data_bytes > this.#options.max_event_bytes || this.#data.length > MAX_DATA_LINES) this.#refuse();
    } else if (line.length > this.#options.max_event_bytes + SLACK_BYTES) {
      this.#refuse();
    } else if (isField(line, ID)) {
      const id = utf8.decode(fieldValue(line, ID.length));
      if (!id.includes('\0')) this.#id = id;
    } else if (isField(line, EVENT)) {
      this.#event = utf8.decode(fieldValue(line, EVENT.length)) || undefined;
    } else if (isField(line, RETRY)) {
      const digits = utf8.decode(fieldValue(line, RETRY.length));
      if (/^[0-9]{1,15}$/.test(digits)) this.#retry = Number(digits);
    }
  }

  #dispatch(): void {
    const has_data = this.#data.length > 0;
    if (!this.#too_large && (has_data || this.#id !== undefined || this.#retry !== undefined)) {
      const data = has_data ? joinBytes(this.#data, LF) : NO_BYTES;
      const event: SseEvent = { data, has_data, event: this.#event, id: this.#id, retry: this.#retry };
      this.#clear();
      this.#options.onEvent(event);
      return;
    }
    this.#too_large = false;
    this.#clear();
  }

  #refuse(): void {
    this.#clear();
    if (this.#too_large) return;
    this.#too_large = true;
    this.#options.onTooLarge();
  }

  #clear(): void {
    this.#data = [];
    this.#data_bytes = 0;
    this.#event = undefined;
    this.#id = undefined;
    this.#retry = undefined;
  }
}

/** A comment that clients ignore, in whole lines: legal between two events only. */
export const SSE_COMMENT: Uint8Array = new TextEncoder().encode(':\n\n');

/**
 * One event as bytes, with its blank line. `data` is a JSON text, or empty; without `fields` its type is `message`. All data is one
 * `data:` line: LF and CR, in JSON only ever white space, become spaces, so nothing in it can start a line or an event. CR, LF and NUL
 * are taken out of `event` and `id`. An event without data is its `retry` line alone; with an id it has an empty `data:` line, so that
 * clients take the id.
 */
export function encodeSse(data: Uint8Array | string, fields: EventFields = MESSAGE): Uint8Array {
  if (typeof data === 'string') {
    // One copy of the text: most messages of a server in process come this way.
    if (fields !== MESSAGE) return encodeSse(Buffer.from(data), fields);
    const line = data.includes('\n') || data.includes('\r') ? data.replace(/[\r\n]/g, ' ') : data;
    return Buffer.from(`${MESSAGE_HEAD}${line}\n\n`);
  }
  const head = headOf(data.length > 0, fields);
  const bytes = Buffer.allocUnsafe(head.length + data.length + 2);
  bytes.set(head);
  bytes.set(data, head.length);
  blank(bytes, LF, head.length);
  blank(bytes, CR, head.length);
  bytes[bytes.length - 2] = LF;
  bytes[bytes.length - 1] = LF;
  if (data.length > 0 || fields.id !== undefined || fields.retry === undefined) return bytes;
  return bytes.subarray(0, -1);
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const MAX_DATA_LINES = 4096;
/** The name of the longest field, its colon and space, and a BOM: held with a line but no part of its value. */
const SLACK_BYTES = 16;
const encoder = new TextEncoder();
const ascii = (text: string): Uint8Array => encoder.encode(text);
const [DATA, ID, EVENT, RETRY] = [ascii('data'), ascii('id'), ascii('event'), ascii('retry')];
const DATA_LINE = ascii('data: ');
const MESSAGE: EventFields = { event: 'message' };
const MESSAGE_HEAD = 'event: message\ndata: ';
const MESSAGE_HEAD_BYTES = ascii(MESSAGE_HEAD);
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function isField(line: Uint8Array, name: Uint8Array): boolean {
  if (line.length !== name.length && line[name.length] !== COLON) return false;
  for (let i = 0; i < name.length; i++) if (line[i] !== name[i]) return false;
  return true;
}

/** What follows the colon, without one space; empty when the line has no colon. */
function fieldValue(line: Uint8Array, name_length: number): Uint8Array {
  return line.subarray(line[name_length + 1] === 0x20 ? name_length + 2 : name_length + 1);
}

function headOf(has_data: boolean, fields: EventFields): Uint8Array {
  if (fields === MESSAGE) return MESSAGE_HEAD_BYTES;
  const { event, id, retry } = fields;
  if (event === undefined && id === undefined && retry === undefined) return DATA_LINE;
  let head = '';
  if (event !== undefined) head += `event: ${clean(event)}\n`;
  if (id !== undefined) head += `id: ${clean(id)}\n`;
  if (retry !== undefined) head += `retry: ${Math.max(0, Math.trunc(retry))}\n`;
  if (has_data) head += 'data: ';
  else if (id !== undefined || retry === undefined) head += 'data:';
  return encoder.encode(head);
}

const clean = (text: string): string => text.replace(/[\r\n\0]/g, '');

/** Every `byte` at or after `from` becomes a space. */
function blank(bytes: Uint8Array, byte: number, from: number): void {
  for (let i = bytes.indexOf(byte, from); i >= 0; i = bytes.indexOf(byte, i + 1)) bytes[i] = 0x20;
}
