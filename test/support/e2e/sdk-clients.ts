import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV12 } from 'sdk-v1-12/client/index.js';
import { StreamableHTTPClientTransport as TransportV12 } from 'sdk-v1-12/client/streamableHttp.js';

/** How one call is made; the same in every SDK. */
export interface CallOptions {
  readonly onprogress?: (progress: { readonly progress: number; readonly total?: number | undefined }) => void;
  readonly signal?: AbortSignal;
  readonly onresumptiontoken?: (token: string) => void;
  readonly resumptionToken?: string;
  /** ms; default 60 000. */
  readonly timeout?: number;
}

export type CompletionRef =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/** A connected official client with one face for all SDK versions. */
export interface SdkClient {
  readonly session: string | undefined;
  readonly revision: string | undefined;
  /** Methods of the notifications that came without a handler of their own, with `params.uri` if there is one. */
  readonly notified: readonly string[];
  /** Methods that the server asked this client for. */
  readonly asked: readonly string[];
  tools(): Promise<readonly string[]>;
  resources(): Promise<readonly string[]>;
  prompts(): Promise<readonly string[]>;
  /** One page of the tools; SDK 2 without a cursor collects all of them. */
  toolPage(cursor?: string): Promise<{ readonly names: readonly string[]; readonly next: string | undefined }>;
  /** The texts of the messages, one a line. */
  prompt(name: string, args?: Readonly<Record<string, string>>): Promise<string>;
  /** Values for an argument of a prompt or a variable of a template. */
  complete(ref: CompletionRef, argument: string, value: string): Promise<readonly string[]>;
  /** `logging/setLevel`: legacy revisions only. */
  setLevel(level: 'debug' | 'error'): Promise<void>;
  read(uri: string): Promise<string>;
  subscribe(uri: string): Promise<void>;
  /** The texts of the result, one a line. */
  call(name: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<string>;
  /** DELETE of the session. */
  terminate(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Goes on with a session instead of beginning one. */
  readonly session?: string;
}

/** Connects to an MCP endpoint. The client can be asked for roots, sampling and elicitation, and answers at once. */
export type OpenClient = (url: string, options?: OpenOptions) => Promise<SdkClient>;

export const openV12: OpenClient = (url, options) =>
  openV1(ClientV12 as unknown as typeof ClientV1, TransportV12 as unknown as typeof TransportV1, url, options);
export const openV1Current: OpenClient = (url, options) => openV1(ClientV1, TransportV1, url, options);
/** SDK v1 over the transport of revision 2024-11-05. */
export const openV1Sse: OpenClient = (url, options) => openV1(ClientV1, SSEClientTransport as unknown as typeof TransportV1, url, options);
/** An SDK v2 client that negotiates as `mode` says. */
export const openV2 =
  (mode: VersionNegotiationMode): OpenClient =>
  async (url, { headers = {}, session } = {}) => {
    const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
    const transport = new TransportV2(new URL(url), { requestInit: { headers }, ...(session === undefined ? {} : { sessionId: session }) });
    const asked: string[] = [];
    for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create'] as const) {
      client.setRequestHandler(method, () => {
        asked.push(method);
        return ANSWERS[method] as never;
      });
    }
    const call: Face['call'] = (name, args, options) => client.callTool({ name, arguments: { ...args } }, { ...options });
    return face(client as unknown as Shape, transport, call, asked);
  };

async function openV1(
  Client: typeof ClientV1,
  Transport: typeof TransportV1,
  url: string,
  { headers = {}, session }: OpenOptions = {},
): Promise<SdkClient> {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  const transport = new Transport(new URL(url), { requestInit: { headers }, ...(session === undefined ? {} : { sessionId: session }) });
  const asked: string[] = [];
  client.fallbackRequestHandler = async ({ method }) => {
    asked.push(method);
    return ANSWERS[method as keyof typeof ANSWERS] ?? {};
  };
  const call: Face['call'] = (name, args, options) => client.callTool({ name, arguments: { ...args } }, undefined, { ...options });
  return face(client as unknown as Shape, transport, call, asked);
}

const INFO = { name: 'portcullis-e2e', version: '1.0.0' };
const CAPABILITIES = { roots: { listChanged: true }, sampling: {}, elicitation: {} };
const ANSWERS = {
  'roots/list': { roots: [{ uri: 'file:///e2e', name: 'e2e root' }] },
  'sampling/createMessage': { model: 'stub', role: 'assistant', content: { type: 'text', text: 'sampled text' } },
  'elicitation/create': { action: 'accept', content: { name: 'e2e caller', check: true, integer: 7 } },
} as const;

interface Notification {
  readonly method: string;
  readonly params?: { readonly uri?: unknown };
}

/** What the client classes of all SDK versions have in common. */
interface Shape {
  fallbackNotificationHandler?: (notification: Notification) => Promise<void>;
  connect(transport: unknown): Promise<void>;
  listTools(params?: {
    readonly cursor: string;
  }): Promise<{ readonly tools: readonly { readonly name: string }[]; readonly nextCursor?: string }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  listPrompts(): Promise<{ readonly prompts: readonly { readonly name: string }[] }>;
  getPrompt(params: { readonly name: string; readonly arguments?: object }): Promise<{
    readonly messages: readonly { readonly content: { readonly text?: string } }[];
  }>;
  complete(params: {
    readonly ref: CompletionRef;
    readonly argument: object;
  }): Promise<{ readonly completion: { readonly values: string[] } }>;
  setLoggingLevel(level: string): Promise<unknown>;
  readResource(params: { readonly uri: string }): Promise<{ readonly contents: readonly { readonly text?: string }[] }>;
  subscribeResource(params: { readonly uri: string }): Promise<unknown>;
  close(): Promise<void>;
}

interface Face {
  readonly call: (name: string, args: Readonly<Record<string, unknown>>, options: CallOptions) => Promise<unknown>;
  readonly transport: {
    readonly sessionId?: string | undefined;
    readonly protocolVersion?: string | undefined;
    terminateSession(): Promise<void>;
  };
}

async function face(client: Shape, transport: Face['transport'], call: Face['call'], asked: readonly string[]): Promise<SdkClient> {
  const notified: string[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => {
    notified.push(typeof params?.uri === 'string' ? `${method} ${params.uri}` : method);
  };
  await client.connect(transport);
  return {
    get session() {
      return transport.sessionId;
    },
    get revision() {
      return transport.protocolVersion;
    },
    notified,
    asked,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async toolPage(cursor) {
      const { tools, nextCursor } = await client.listTools(cursor === undefined ? undefined : { cursor });
      return { names: tools.map(({ name }) => name), next: nextCursor };
    },
    prompt: async (name, args = {}) =>
      (await client.getPrompt({ name, arguments: args })).messages.map(({ content }) => content.text ?? '').join('\n'),
    complete: async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values,
    setLevel: async (level) => void (await client.setLoggingLevel(level)),
    read: async (uri) => (await client.readResource({ uri })).contents.map(({ text }) => text ?? '').join('\n'),
    subscribe: async (uri) => void (await client.subscribeResource({ uri })),
    async call(name, args = {}, options = {}) {
      const { content } = (await call(name, args, options)) as { readonly content: readonly { readonly text?: string }[] };
      return content.map(({ text }) => text ?? '').join('\n');
    },
    terminate: () => transport.terminateSession(),
    close: () => client.close(),
  };
}
