import type { Facts, Identity } from './identity.js';

/** One HTTP request as any server can tell it, its body read in full and bounded. */
export interface HttpRequest {
  readonly method: string;
  /** By name in any case; a field that came several times is a list, or one text with commas. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  /** Who calls, verified by the host. Never made from a header that the host did not verify. */
  readonly identity?: Identity | undefined;
  readonly facts?: Facts;
  /** In logs, error bodies and `X-Request-Id`. Default: random. */
  readonly request_id?: string;
}

/** A whole answer. */
export interface HttpResponse {
  readonly kind: 'response';
  readonly status: number;
  /** Names in lower case; Content-Length is there. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** An event stream: send the head at once, then each chunk, whole events, as the reader takes it. Keep-alive comments are the host's. */
export interface HttpStream {
  readonly kind: 'stream';
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  /** Returning the iterator says that the client has left: its call is cancelled. Iterate once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A request that was admitted and decoded; nothing has run yet. */
export interface HttpPrepared {
  readonly kind: 'prepared';
  /** JSON-RPC method; empty for a client's response object. */
  readonly method: string;
  /** Tool, prompt or resource that it is about. */
  readonly name: string | undefined;
  readonly revision: string;
}
