import { type Agent, type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';

/** One HTTP exchange whose answer is watched as it comes. */
export interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What has come so far, piece by piece, with the monotonic time of each. */
  readonly pieces: readonly { readonly at_ms: number; readonly text: string }[];
  /** Everything so far as one text. */
  readonly text: string;
  /** Resolves once the text holds a match, now or later; rejects when the answer ends without one. */
  shows(pattern: RegExp): Promise<void>;
  /** Resolves with how the answer ended and when. */
  readonly ended: Promise<{ readonly how: 'whole' | 'cut'; readonly at_ms: number }>;
  /** The client leaves. */
  leave(): void;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
  /** Address of this machine to call from, e.g. `127.0.0.2`. */
  readonly from?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Sends one request and resolves with the head of its answer. Without an agent each request has a connection of its own. */
export function send(url: string, options: SendOptions = {}): Promise<Sent> {
  const { method = 'GET', headers = {}, body, agent, from, ca, cert, key } = options;
  const request = url.startsWith('https:') ? tlsRequest : plainRequest;
  const length = body === undefined || headers['transfer-encoding'] !== undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { ...headers, ...length },
      agent: agent ?? false,
      ...(from === undefined ? {} : { localAddress: from }),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert, key }),
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const pieces: { at_ms: number; text: string }[] = [];
      const looks = new Set<() => void>();
      let over: 'whole' | 'cut' | undefined;
      const look = (): void => {
        for (const each of looks) each();
      };
      response.setEncoding('utf8');
      response.on('error', () => undefined);
      response.on('data', (text: string) => {
        pieces.push({ at_ms: performance.now(), text });
        look();
      });
      const ended = new Promise<{ how: 'whole' | 'cut'; at_ms: number }>((done) => {
        response.on('close', () => {
          over = response.complete ? 'whole' : 'cut';
          done({ how: over, at_ms: performance.now() });
          look();
        });
      });
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        pieces,
        get text() {
          return pieces.map((piece) => piece.text).join('');
        },
        shows: (pattern) =>
          new Promise((done, fail) => {
            const each = (): void => {
              const text = pieces.map((piece) => piece.text).join('');
              if (!pattern.test(text) && over === undefined) return;
              looks.delete(each);
              if (pattern.test(text)) done();
              else fail(new Error(`the answer ended ${over} before it showed ${pattern}: ${text.slice(-2000)}`));
            };
            looks.add(each);
            each();
          }),
        ended,
        leave: () => sent.destroy(),
      });
    });
    sent.end(body);
  });
}

/** Sends one request and waits for the whole answer. */
export async function whole(url: string, options: SendOptions = {}): Promise<Sent> {
  const sent = await send(url, options);
  await sent.ended;
  return sent;
}

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A request of revision 2026-07-28 with the headers that mirror it. */
export function modern(method: string, params: Readonly<Record<string, unknown>> = {}, id: string | number = 1): SendOptions {
  const name = params.name ?? params.uri;
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: MODERN_META, ...params } }),
  };
}

/** A `tools/call` of revision 2026-07-28. */
export function tool(name: string, args: Readonly<Record<string, unknown>> = {}, id: string | number = 1): SendOptions {
  return modern('tools/call', { name, arguments: args }, id);
}

/** A message of revision 2025-11-25. */
export function legacy(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  session?: string,
  id: string | number = 1,
): SendOptions {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  };
}

/** The legacy handshake. */
export const INITIALIZE: SendOptions = legacy('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '0' },
});

/** The same request with more headers. */
export function withHeaders(options: SendOptions, headers: Readonly<Record<string, string>>): SendOptions {
  return { ...options, headers: { ...options.headers, ...headers } };
}
