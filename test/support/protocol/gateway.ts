import { createGateway } from '../../../src/index.js';
import { META, modernHead } from '../../demo/rpc.js';
import { repositoryPath } from '../repository.js';

/** Parsed JSON, unchecked: assertions are its check. */
export type Json = ReturnType<typeof JSON.parse>;

export interface SendOptions {
  /** Raw JSON text; default `1`. */
  readonly id?: string;
  /** Laid over `_meta`; undefined takes a member away. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly capabilities?: object;
  /** Laid over the headers; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** `/mcp` is public. The others want an API key: `ada` has the scope admin, `bob` has none. `/limited` admits two requests of each. */
  readonly path?: '/mcp' | '/guarded' | '/limited' | '/none';
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Every JSON-RPC message in the body, in order. */
  readonly messages: readonly Json[];
  /** The last one. */
  readonly message: Json;
}

/** A gateway in this process that hosts the server of `server.ts`. */
export interface ProtocolGateway {
  readonly port: number;
  /** Sends a request of revision 2026-07-28 with all that belongs to it and reads the answer to its end. */
  ask(method: string, params?: object, options?: SendOptions): Promise<Answer>;
  /** The same, and leaves the body to the caller. */
  open(method: string, params?: object, options?: SendOptions): Promise<Response>;
  /** Sends a body with headers of the caller's choice. */
  post(body: string | Uint8Array, headers: Readonly<Record<string, string | undefined>>, method?: string): Promise<Answer>;
  drain(): Promise<unknown>;
  close(): Promise<void>;
}

export { META, modernHead as headersOf };

export async function startProtocolGateway(): Promise<ProtocolGateway> {
  const gateway = createGateway({
    listener: { port: 0 },
    ops: { enabled: false },
    gates: { keys: { use: 'api-key', options: { keys: KEYS } }, two: { use: 'rate', options: { limit: 2 } } },
    runtimes: { protocol: { kind: 'hosted', module: repositoryPath('dist/test/support/protocol/server.js') } },
    routes: [
      { path: '/mcp', public: true, runtime: 'protocol' },
      { path: '/guarded', gates: ['keys'], runtime: 'protocol' },
      { path: '/limited', gates: ['keys', 'two'], runtime: 'protocol' },
    ],
  });
  await gateway.start();
  const { url } = gateway;
  const post: ProtocolGateway['post'] = async (body, headers, method = 'POST') =>
    read(await fetch(`${url}/mcp`, { method, headers: present(headers), ...(method === 'GET' ? {} : { body: Buffer.from(body) }) }));
  const open: ProtocolGateway['open'] = (method, params = {}, options = {}) => {
    const { id = '1', meta = {}, capabilities = {}, headers = {}, path = '/mcp', signal } = options;
    const { name, uri } = params as { readonly name?: string; readonly uri?: string };
    const named = method === 'resources/read' ? uri : method === 'tools/call' || method === 'prompts/get' ? name : undefined;
    const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities, ...meta };
    return fetch(`${url}${path}`, {
      method: 'POST',
      headers: present({ ...modernHead(method, named), ...headers }),
      body: `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify({ ...params, _meta })}}`,
      ...(signal === undefined ? {} : { signal }),
    });
  };
  return {
    port: Number(new URL(url).port),
    ask: async (...args) => read(await open(...args)),
    open,
    post,
    drain: () => gateway.drain(),
    close: () => gateway.close(),
  };
}

/** Of `ada` and `bob`. */
const KEYS = [
  { name: 'ada', sha256: 'fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029', scopes: ['admin'] },
  { name: 'bob', sha256: '81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9' },
];

function present(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

async function read(response: Response): Promise<Answer> {
  const text = Buffer.from(await response.arrayBuffer()).toString('utf8');
  const messages = messagesIn(text, response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, messages, message: messages.at(-1) };
}

/** The JSON-RPC messages of a body: of each event of a stream, or the one of a JSON body. */
export function messagesIn(text: string, content_type: string): readonly Json[] {
  // A line of a stream ends with LF or CR: other line ends of Unicode are text.
  if (content_type.startsWith('text/event-stream')) {
    const data = text.split(/[\r\n]/).filter((line) => line.startsWith('data: '));
    return data.map((line) => JSON.parse(line.slice('data: '.length)));
  }
  return text === '' ? [] : [JSON.parse(text)];
}
