import type { IncomingMessage } from 'node:http';
import type { BodyFraming } from '../../core/http/check-head.js';
import type { ErrorCode } from '../../errors/codes.js';
import { isPlainLength } from '../../wire/field.js';

/** The framing of one request. Written by `validateHead`, owned by the connection record. */
export interface Framing extends BodyFraming {
  content_length: number;
  transfer_encoding: boolean;
  chunked: boolean;
  /** Bytes of the head as rebuilt from its parts: exact while each field is `Name: value`. */
  head_bytes: number;
}

export interface HeadLimits {
  readonly max_header_bytes: number;
  readonly max_header_count: number;
}

/**
 * Judges a parsed head for what the parser lets through (RFC 9112 sections 3, 5 and 6): count and size, Host, Content-Length, target, version.
 * `received` is what the socket read since the end of the previous request, head and body together.
 * Returns undefined for a good head; fills `framing` either way.
 */
export function validateHead(request: IncomingMessage, limits: HeadLimits, received: number, framing: Framing): ErrorCode | undefined {
  const raw = request.rawHeaders;
  const count = raw.length;
  framing.content_length = -1;
  framing.transfer_encoding = framing.chunked = false;
  const method = request.method ?? '';
  const target = request.url ?? '';
  if (count > 2 * limits.max_header_count) return 'HEAD_TOO_LARGE';
  // Method SP target SP HTTP/1.1 CRLF … CRLF; each field adds ": " and CRLF.
  let size = method.length + target.length + 14 + 2 * count;
  let hosts = 0;
  let odd = false;
  for (let i = 0; i < count; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    size += name.length + value.length;
    // Only names of these lengths can matter: the others are never lower-cased.
    if (name.length === 4) {
      if (name.toLowerCase() === 'host') {
        hosts++;
        if (value === '') odd = true;
      }
    } else if (name.length === 14) {
      if (name.toLowerCase() === 'content-length') {
        if (framing.content_length !== -1 || !isPlainLength(value)) odd = true;
        else framing.content_length = Number(value);
      }
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      framing.chunked = !framing.transfer_encoding && value.toLowerCase() === 'chunked' && request.httpVersionMinor === 1;
      framing.transfer_encoding = true;
    }
  }
  framing.head_bytes = size;
  // What came with a chunked head cannot be told from its body.
  const most = framing.transfer_encoding ? 0 : received;
  if (isOversized(size, count, framing.content_length, most, limits.max_header_bytes)) return 'HEAD_TOO_LARGE';
  if (odd || hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) return 'BAD_REQUEST';
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1 || FOREIGN.has(method) || !isOriginForm(target)) return 'BAD_REQUEST';
  return undefined;
}

/** The parser takes `SETUP /x RTSP/1.0` and `SOURCE /x ICE/1.0` for HTTP/1.0; only the methods give them away. */
const FOREIGN: ReadonlySet<string> = new Set(
  'DESCRIBE ANNOUNCE SETUP PLAY PAUSE TEARDOWN GET_PARAMETER SET_PARAMETER REDIRECT RECORD FLUSH SOURCE PRI'.split(' '),
);

/** `size` is exact while each field is `Name: value`; white space that the parser dropped shows only in what the socket received. */
function isOversized(size: number, count: number, content_length: number, received: number, max: number): boolean {
  const least = received - Math.max(content_length, 0);
  if (size > max) return !(least <= max && least >= size - count / 2);
  return least > max;
}

/** RFC 9112 section 3.2.1: starts with `/`, visible ASCII, no fragment. */
function isOriginForm(target: string): boolean {
  if (target.charCodeAt(0) !== 0x2f) return false;
  for (let i = 1; i < target.length; i++) {
    const c = target.charCodeAt(i);
    if (c < 0x21 || c > 0x7e || c === 0x23) return false;
  }
  return true;
}
