import { isTokenByte, listedIn } from '../wire/field.js';
import { badAnswer, type ResponseHead } from './exchange.js';
/** Fields of one head; more is a fault. */
export const MAX_FIELDS = 256;

/**
 * Reads status line and fields. `text` is the head without its last two CRLF, bytes as Latin-1.
 * Stricter than RFC 9112 asks of a client: no obs-fold, no bare CR or LF, no white space before a colon, no control character,
 * never both Transfer-Encoding and Content-Length, no coding but `chunked`, one Content-Length only.
 * @throws UpstreamFailure `BAD_ANSWER`.
 */
export function parseResponseHead(text: string): ResponseHead {
  const line_end = endOfLine(text, 0);
  const status = statusOf(text, line_end);
  const fields: string[] = [];
  let length = -1;
  let chunked = false;
  let coded = false;
  let connection = '';
  let idle_s: number | undefined;
  let at = line_end + 2;
  while (at < text.length) {
    const end = endOfLine(text, at);
    const colon = endOfName(text, at, end);
    const name = text.slice(at, colon).toLowerCase();
    const value = fieldValue(text, colon + 1, end);
    fields.push(name, value);
    at = end + 2;
    if (name === 'content-length') {
      if (length !== -1) throw badAnswer('Content-Length is repeated');
      length = lengthOf(value);
    } else if (name === 'transfer-encoding') {
      if (coded || value.toLowerCase() !== 'chunked') throw badAnswer('Transfer-Encoding is not chunked');
      coded = chunked = true;
    } else if (name === 'connection') connection = connection === '' ? value.toLowerCase() : `${connection},${value.toLowerCase()}`;
    else if (name === 'keep-alive') idle_s = shorter(idle_s, timeoutOf(value));
  }
  if (fields.length > 2 * MAX_FIELDS) throw badAnswer('too many fields');
  if (chunked && length !== -1) throw badAnswer('both Transfer-Encoding and Content-Length');
  const old = text.charCodeAt(7) === ZERO;
  if (chunked && old) throw badAnswer('Transfer-Encoding in HTTP/1.0');
  const bodiless = status < 200 || status === 204 || status === 304;
  // What some other reader would take for a body must not be read as the next answer.
  const odd = bodiless && (chunked || length > 0);
  if (odd && status < 200) throw badAnswer('an informational answer with a body');
  const framing = bodiless ? 'none' : chunked ? 'chunked' : length >= 0 ? 'length' : 'close';
  const keeps = framing !== 'close' && !odd && !old && (connection === '' || connection === 'keep-alive' || !lists(connection, 'close'));
  return { status, fields, framing, length: framing === 'length' ? length : 0, keeps, idle_s };
}

/** Position of the CR that ends the line; the end of the text ends the last one. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
}

/** `HTTP/1.0` or `HTTP/1.1`, one space, three digits, then nothing or a space and a reason. */
function statusOf(text: string, end: number): number {
  const minor = text.charCodeAt(7);
  if (!text.startsWith('HTTP/1.') || (minor !== ZERO && minor !== ONE) || text.charCodeAt(8) !== SPACE) throw badAnswer('not HTTP/1.1');
  let status = 0;
  for (let i = 9; i < 12; i++) {
    const digit = text.charCodeAt(i) - ZERO;
    if (!(digit >= 0 && digit <= 9)) throw badAnswer('the status is not a number');
    status = status * 10 + digit;
  }
  if (status < 100 || (end > 12 && text.charCodeAt(12) !== SPACE)) throw badAnswer('the status is not a number of three digits');
  checkText(text, 12, end);
  return status;
}

function endOfName(text: string, at: number, end: number): number {
  for (let i = at; i < end; i++) {
    const byte = text.charCodeAt(i);
    if (byte === COLON && i > at) return i;
    if (!isTokenByte(byte)) break;
  }
  throw badAnswer('a field name is not a token');
}

function fieldValue(text: string, from: number, end: number): string {
  checkText(text, from, end);
  let first = from;
  let last = end;
  while (first < last && isBlank(text.charCodeAt(first))) first++;
  while (last > first && isBlank(text.charCodeAt(last - 1))) last--;
  return text.slice(first, last);
}

/** No control character but the tab (RFC 9110 section 5.5). */
function checkText(text: string, from: number, end: number): void {
  for (let i = from; i < end; i++) {
    const byte = text.charCodeAt(i);
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw badAnswer('a control character in a field');
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

function lengthOf(value: string): number {
  if (!/^[0-9]{1,15}$/.test(value)) throw badAnswer('Content-Length is not a number');
  return Number(value);
}

function timeoutOf(value: string): number | undefined {
  const seconds = /(?:^|[,\t ])timeout=([0-9]{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

function shorter(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}

function lists(connection: string, option: string): boolean {
  return listedIn(connection).includes(option);
}

const ZERO = 0x30;
const ONE = 0x31;
const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;
const DELETE = 0x7f;
