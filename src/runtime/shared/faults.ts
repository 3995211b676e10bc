import type { HeaderList } from '../../contract/runtime.js';
import type { ErrorCode } from '../../errors/codes.js';

/** What went wrong toward an upstream: the code for the client, and for the log why, without an address or a header value. */
export interface UpstreamFault {
  readonly code: ErrorCode;
  readonly reason: string;
}

/** Reads an error toward an upstream before the answer's head was there: of our own pool, or of undici under @fastify/http-proxy. */
export function faultBeforeHead(error: Error): UpstreamFault {
  const reason = reasonOf(error);
  if (reason === 'UND_ERR_INVALID_ARG') return { code: 'BAD_REQUEST', reason };
  if (STOPPING.has(reason)) return { code: 'DRAINING', reason };
  return { code: SPOKE.has(reason) || reason.startsWith('HPE_') ? 'UPSTREAM_BROKEN' : 'UPSTREAM_UNREACHABLE', reason };
}

const STOPPING: ReadonlySet<string> = new Set(['STOPPED', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** The upstream answered, but not as HTTP has it. */
const SPOKE: ReadonlySet<string> = new Set([
  'BAD_ANSWER',
  'HTTPParserError',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** The error's code, or its name: never its message, which holds addresses. */
export function reasonOf(error: Error): string {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === 'string' && code !== '' ? code : error.name;
}

/** The fields of an upstream's answer that go with an error body of our own; repeated fields are joined (RFC 9110 section 5.3). */
export function errorHeaders(relayed: HeaderList): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < relayed.length; i += 2) {
    const name = relayed[i] as string;
    const value = relayed[i + 1] as string;
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
