import type { SdkAuth, SdkRespond } from '../runtime/hosted/sdk-hosted.js';
import { findPackage } from './find-package.js';

/** An official SDK server as the gateway runs it. */
export interface SdkServer {
  readonly respond: SdkRespond;
  readonly close: () => Promise<void>;
}

interface Instance {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
}

type Factory = (context?: unknown) => Instance | Promise<Instance>;

interface V2 {
  createMcpHandler(factory: Factory): {
    fetch(request: Request, options: { authInfo?: SdkAuth }): Promise<Response>;
    close(): Promise<void>;
  };
}

interface V1 {
  WebStandardStreamableHTTPServerTransport: new (
    options: object,
  ) => {
    handleRequest(request: Request, options: { authInfo?: SdkAuth }): Promise<Response>;
  };
}

/**
 * Makes a server of what a module exports: a factory that returns a new `McpServer` (or `Server`) of the official SDK, v1 or v2,
 * found where the module finds it. Every request gets its own instance. Undefined when the export is not such a factory; throws an
 * Error that says what is missing.
 */
export async function openSdkServer(exported: unknown, folder: string): Promise<SdkServer | undefined> {
  if (typeof exported !== 'function') return undefined;
  const factory = exported as Factory;
  const probe = await factory({ era: 'legacy' });
  if (typeof probe?.connect !== 'function' || typeof probe.close !== 'function') return undefined;
  await probe.close();
  const v2 = await load<V2 & Readonly<Record<string, unknown>>>('@modelcontextprotocol/server', '', folder);
  if (v2 !== undefined && [v2.McpServer, v2.Server].some((type) => typeof type === 'function' && probe instanceof type))
    return openV2(v2, factory);
  const v1 = await load<V1>('@modelcontextprotocol/sdk', './server/webStandardStreamableHttp.js', folder);
  if (v1 === undefined)
    throw new Error('its factory returns an official SDK server, but @modelcontextprotocol/sdk from 1.24 is not installed beside it');
  return { respond: respondV1(v1, factory), close: async () => undefined };
}

function openV2({ createMcpHandler }: V2, factory: Factory): SdkServer {
  const handler = createMcpHandler(factory);
  return {
    respond: (request, auth) => handler.fetch(request, auth === undefined ? {} : { authInfo: auth }),
    close: () => handler.close(),
  };
}

/** v1 without sessions, as its own documentation sets it up: a server and a transport for each request, both closed after it. */
function respondV1({ WebStandardStreamableHTTPServerTransport: Transport }: V1, factory: Factory): SdkRespond {
  return async (request, auth) => {
    const server = await factory();
    const close = (): void => void server.close().catch(() => undefined);
    try {
      const transport = new Transport({ sessionIdGenerator: undefined });
      await server.connect(transport);
      request.signal.addEventListener('abort', close, { once: true });
      const response = await transport.handleRequest(request, auth === undefined ? {} : { authInfo: auth });
      if (response.body === null) {
        close();
        return response;
      }
      const ended = new TransformStream<Uint8Array, Uint8Array>({ flush: close });
      return new Response(response.body.pipeThrough(ended), response);
    } catch (error) {
      close();
      throw error;
    }
  };
}

async function load<T>(name: string, beside: string, folder: string): Promise<T | undefined> {
  let entry: string;
  try {
    entry = findPackage(name, folder);
  } catch {
    return undefined;
  }
  return (await import(beside === '' ? entry : new URL(beside, entry).href).catch(() => undefined)) as T | undefined;
}
