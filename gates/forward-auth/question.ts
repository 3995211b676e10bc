import type { RequestHead, RouteInfo } from 'portcullis/gate';
import type { Options } from './options.js';

/** Header fields of one question, names in lower case. */
export type Question = Readonly<Record<string, string>>;

/** Fields that are ours or the connection's and can be neither forwarded nor fixed. */
const RESERVED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-method',
  'x-forwarded-proto',
  'x-forwarded-uri',
  'x-request-id',
]);

/**
 * Builds the request to the service: the allowlisted client fields, the fixed ones, and the requested method and tool as
 * X-Forwarded-Method, -Uri (path and query as received), -Host, -Proto (of the route's public URL) and -For (the client's address).
 * Undefined: an allowlisted field came more than once. Throws an Error for a reserved or doubly configured name.
 */
export function toQuestion(options: Options): (head: RequestHead, route: RouteInfo) => Question | undefined {
  const copied = new Set(options.request_headers.map((name) => name.toLowerCase()));
  const fixed: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers)) {
    const lower = name.toLowerCase();
    if (lower in fixed || copied.has(lower)) throw new Error(`header ${lower} is configured twice`);
    fixed[lower] = value;
  }
  for (const name of [...copied, ...Object.keys(fixed)]) {
    if (RESERVED.has(name)) throw new Error(`header ${name} is set by the gateway; remove it from request_headers and headers`);
  }
  return (head, route) => {
    const public_url = new URL(route.url);
    const question: Record<string, string> = {
      ...fixed,
      'x-forwarded-method': head.method,
      'x-forwarded-uri': head.query === '' ? head.path : `${head.path}?${head.query}`,
      'x-forwarded-host': public_url.host,
      'x-forwarded-proto': public_url.protocol.slice(0, -1),
      'x-forwarded-for': head.peer.client_address,
      'x-request-id': head.id,
    };
    for (const name of copied) {
      const lines = head.headers.all(name);
      if (lines.length > 1) return undefined;
      if (lines[0] !== undefined) question[name] = lines[0];
    }
    return question;
  };
}
