import type { TransportFault } from '../contract/transport.js';

/** What an HTTP server answered instead of a message. */
export interface HttpRefusal {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The fault of an answer with an unsuccessful status. */
export function refused({ status, headers, body }: HttpRefusal): TransportFault {
  const text = body.toString('utf8');
  const rpc = rpcError(text);
  const kept = Object.fromEntries(KEPT.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
  const said = rpc === undefined ? excerpt(text, headers['content-type']) : `: ${printable(rpc.message)}`;
  const moved =
    status >= 300 && status < 400 && headers.location !== undefined
      ? `; it redirects to ${printable(headers.location)}, which is not followed`
      : '';
  const message = `the server answered ${status}${said}${moved}`;
  return { code: 'REFUSED', message, status, headers: kept, ...(rpc === undefined ? {} : { rpc }) };
}

/** The fault of a connection that could not be made, or broke. `began`: the head of the answer had come. */
export function broken(error: Error & { readonly code?: string }, origin: string, began: boolean): TransportFault {
  const { code = '', message } = error;
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return { code: 'BROKEN', message: `${origin} does not speak HTTP/1.1 (${code})` };
  if (began) return { code: 'ENDED', message: 'the connection broke before the answer was complete' };
  if (code === 'UND_ERR_SOCKET') return { code: 'ENDED', message: 'the server closed the connection without an answer' };
  const why = code === 'UND_ERR_CONNECT_TIMEOUT' ? 'it does not answer' : `${WHY[code] ?? message}${code === '' ? '' : ` (${code})`}`;
  return { code: 'UNREACHABLE', message: `cannot connect to ${origin}: ${why}` };
}

/** What the caller can act on. */
const KEPT = ['www-authenticate', 'retry-after', 'location', 'content-type', 'allow'] as const;

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the name cannot be looked up now',
  ECONNRESET: 'the connection was reset',
};

/** The JSON-RPC error that a body holds, if it is one. */
export function rpcError(text: string): TransportFault['rpc'] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const error = (body as { readonly error?: unknown } | null)?.error;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message, data } = error as { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
  if (typeof code !== 'number') return undefined;
  return { code, message: typeof message === 'string' ? message : '', ...(data === undefined ? {} : { data }) };
}

/** The first words of a text answer; a page for people says nothing. */
function excerpt(text: string, type: string | undefined): string {
  const plain = type?.startsWith('text/plain') === true || type?.includes('json') === true;
  const words = printable(text.trim());
  return plain && words !== '' ? `: ${words}` : '';
}

/** One line of at most 300 characters, without control characters. */
function printable(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
