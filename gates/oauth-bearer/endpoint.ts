import { type Clock, type Egress, trimOws } from 'portcullis/gate';
import { Agent, buildConnector, request } from 'undici';

/** One request to an authorization server. */
export interface EndpointRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What the answer must be: `json` is a JSON document, however its server labels it; else exactly this media type, in lower case. */
  readonly expects: 'json' | `application/${string}`;
}

export interface EndpointAnswer {
  /** In lower case, without parameters; empty when the answer has none. */
  readonly media_type: string;
  readonly body: Buffer;
}

/** `close`: a connection for each request. `keep`: connections are kept, and a request on one that turns out closed is sent once more. */
export type Connections = { readonly kind: 'close' } | { readonly kind: 'keep'; readonly max: number };

/**
 * The gate’s way to authorization servers: verified TLS, no redirect followed, a 200 of the expected kind, at most 1 MiB.
 * It sets no time limit: callers pass a signal that has one. `close` ends open requests.
 */
export interface Endpoint {
  ask(url: string, asked: EndpointRequest, signal: AbortSignal): Promise<EndpointAnswer>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;

export function createEndpoint(connections: Connections, egress: Egress): Endpoint {
  const keep = connections.kind === 'keep';
  const agent = new Agent({
    connections: keep ? connections.max : 2,
    pipelining: keep ? 1 : 0,
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
    connect: egress.connector(buildConnector({ timeout: 10_000 })),
  });
  const once = async (url: string, asked: EndpointRequest, signal: AbortSignal): Promise<EndpointAnswer> => {
    try {
      return await ask(agent, url, asked, signal);
    } catch (error) {
      if (error instanceof SourceFailure) throw error;
      throw signal.aborted
        ? new SourceFailure('timeout', 'no complete answer in time', error)
        : new SourceFailure('unreachable', failed(error), error);
    }
  };
  return {
    ask: async (url, asked, signal) => {
      try {
        return await once(url, asked, signal);
      } catch (error) {
        if (!keep || !(error instanceof SourceFailure) || error.reason !== 'unreachable') throw error;
        return await once(url, asked, signal);
      }
    },
    close: () => agent.destroy(),
  };
}

/** What the egress proxy did wrong is for the operator; other messages of the network hold addresses. */
function failed(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === 'string' && code.startsWith('PROXY_') ? `the connection failed: ${String(message)}` : 'the connection failed';
}

/** Runs `work` with a signal that aborts after `timeout_ms`; the timer ends with the work. */
export async function withDeadline<T>(clock: Clock, timeout_ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const timer = clock.timer(timeout_ms, () => deadline.abort());
  try {
    return await work(deadline.signal);
  } finally {
    timer.cancel();
  }
}

async function ask(agent: Agent, url: string, asked: EndpointRequest, signal: AbortSignal): Promise<EndpointAnswer> {
  const { method, headers, body = null, expects } = asked;
  const accept = expects !== 'json' ? expects : method === 'GET' ? ANY_JSON : 'application/json';
  const response = await request(url, { dispatcher: agent, method, headers: { accept, ...headers }, body, signal });
  const fault = headFault(response.statusCode, response.headers, expects);
  if (fault !== undefined) {
    response.body.on('error', () => {}).destroy();
    throw fault;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new SourceFailure('too_large', `the answer is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { media_type: mediaType(response.headers), body: Buffer.concat(chunks, size) };
}

const ANY_JSON = 'application/json, application/jwk-set+json;q=0.9, */*;q=0.1';

/** Servers of static files label JSON as they please; a page for people is the one thing that is certainly none. */
function mayBeJson(media_type: string): boolean {
  return UNTYPED.has(media_type) || media_type.endsWith('/json') || media_type.endsWith('+json');
}

const UNTYPED: ReadonlySet<string> = new Set(['', 'text/plain', 'application/octet-stream']);

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

function headFault(status: number, headers: AnswerHeaders, expects: EndpointRequest['expects']): SourceFailure | undefined {
  if (status !== 200) return new SourceFailure('status', `the answer has status ${status}, expected 200`);
  const media_type = mediaType(headers);
  if (expects === 'json' ? !mayBeJson(media_type) : media_type !== expects)
    return new SourceFailure(
      'media_type',
      `the answer is labelled ${media_type === '' ? 'as nothing' : media_type}, not ${expects === 'json' ? 'JSON' : expects}`,
    );
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return new SourceFailure('media_type', 'the answer is compressed');
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES)
    return new SourceFailure('too_large', `the answer is larger than ${MAX_BODY_BYTES} bytes`);
  return undefined;
}

function mediaType(headers: AnswerHeaders): string {
  const value = headers['content-type'];
  return typeof value === 'string' ? trimOws(value.split(';', 1)[0] ?? '').toLowerCase() : '';
}

/** Why a key source or an introspection endpoint gave nothing usable. Also the `outcome` label of its metric. */
type FailureReason =
  | 'timeout'
  | 'unreachable'
  | 'status'
  | 'media_type'
  | 'too_large'
  | 'malformed'
  | 'no_keys'
  | 'too_many_keys'
  | 'issuer_mismatch'
  | 'insecure';

/** Something outside this process gave nothing usable. The message is for the log, never for a client. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
