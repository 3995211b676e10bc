import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, type Readable, Transform, type Writable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Dispatcher, Pool } from 'undici';
import type { Clock, Timer } from '../../contract/clock.js';
import type { Passed } from '../../contract/runtime.js';
import type { Telemetry } from '../../contract/telemetry.js';
import type { ErrorCode } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import { lacksRetryAfter, retryAfter } from '../../errors/retry-after.js';
import type { RatedLog } from '../../transport/rated-log.js';
import { essenceOf } from '../../wire/field.js';
import { errorText } from '../../wire/rpc.js';
import type { RequestQueue, Waiter } from '../proxied/request-queue.js';
import { faultBeforeHead } from '../shared/faults.js';
import type { HttpMount } from './http-mount.js';
import { type HttpRequestPolicy, httpRequestHeaders, httpResponseHeaders } from './http-request.js';

/** The wall clock is looked at this often: it may jump, and a certificate may live for years. */
const LOOK_MS = 60_000;
/** What a client has to take the end before it is cut off. */
const END_MS = 1_000;

/** What all exchanges of one plain HTTP runtime share. */
export interface HttpExchangeParts {
  readonly name: string;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly log: RatedLog;
  readonly policy: HttpRequestPolicy;
  readonly mount: Omit<HttpMount, 'prefix'>;
}

/** One plain HTTP request on its way through the proxy plugin. It writes the answer itself, head first, and lets the upstream go when the client leaves or was refused, as by a 408. */
export class HttpExchange {
  readonly #parts: HttpExchangeParts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #passed: Passed;
  readonly #left = new AbortController();
  /** The answer is the upstream's, so its request ends by itself. */
  #relays = false;

  constructor(parts: HttpExchangeParts, request: IncomingMessage, response: ServerResponse, passed: Passed) {
    this.#parts = parts;
    this.#request = request;
    this.#response = response;
    this.#passed = passed;
    response.on('close', () => {
      if (!response.writableFinished || !this.#relays) this.#left.abort();
    });
  }

  /** The plugin's way to the upstream: a pool's `request` that ends when the client leaves, which the plugin has no option for. */
  static sender(pool: Pool): Dispatcher['request'] {
    const send = (options: Dispatcher.RequestOptions, done: (error: Error | null, data: Dispatcher.ResponseData) => void): void => {
      const headers = options.headers as Record<symbol, AbortSignal | undefined>;
      pool.request({ ...options, signal: headers[SIGNAL] }, done);
    };
    return send as Dispatcher['request'];
  }

  /** Runs `launch` once the caller's turn has come; its place is given back when the response is over. Without one the client is refused. */
  queue(queue: RequestQueue, caller: string, launch: () => void): void {
    const { telemetry } = this.#parts;
    const refuse = (): void => {
      telemetry.callerLimited(this.#passed.prefix, 'call');
      this.fail(new GatewayError('OVERLOADED'));
    };
    let entered = true;
    const waiter: Waiter = {
      caller,
      place: undefined,
      launch,
      displaced: () => {
        entered = false;
        refuse();
      },
    };
    const entry = queue.enter(waiter);
    if (entry === 'refused') return refuse();
    if (entry === 'waits_own') telemetry.callerLimited(this.#passed.prefix, 'wait');
    const leave = (): void => {
      if (entered) queue.leave(waiter);
    };
    if (this.#response.closed) leave();
    else this.#response.once('close', leave);
  }

  send(reply: FastifyReply, dest: string): void {
    reply.from(dest, {
      rewriteRequestHeaders: (_request, headers) => {
        const own: Record<string | symbol, unknown> = httpRequestHeaders(headers as IncomingHttpHeaders, this.#parts.policy, this.#passed);
        own[SIGNAL] = this.#left.signal;
        return own as IncomingHttpHeaders;
      },
      onResponse: (_request, _reply, result) => {
        reply.hijack();
        const { statusCode, headers, stream } = result as unknown as { statusCode: number; headers: IncomingHttpHeaders; stream: Readable };
        this.#relay(statusCode, headers, stream, dest);
      },
      rewriteHeaders: () => ({}),
      onError: (_reply, { error }) => {
        reply.hijack();
        this.#failed(error);
      },
    });
  }

  /** A body of no declared length, passed on up to a bound; beyond it the client gets 413 and the upstream is let go. */
  counted(body: Readable, max_bytes: number): Readable {
    let left = max_bytes;
    const counting = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        left -= chunk.length;
        if (left >= 0) return done(null, chunk);
        this.fail(
          new GatewayError('BODY_TOO_LARGE', { detail: `At most ${max_bytes} bytes are accepted.`, data: { max_body_bytes: max_bytes } }),
        );
        this.#left.abort();
        done(new Error('the body is too large'));
      },
    });
    // There may be no listener: undici drops a body as soon as its request is over.
    counting.on('error', () => {});
    // Not a pipeline: it would destroy the client's connection together with what is too large, and the answer with it.
    body.once('close', () => {
      if (!body.readableEnded) counting.destroy(new Error('the body broke off'));
    });
    return body.pipe(counting);
  }

  refuse(reply: FastifyReply, code: ErrorCode): void {
    reply.hijack();
    this.fail(new GatewayError(code));
  }

  fail(error: GatewayError): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    const body = errorText(error, undefined, this.#passed.head.id);
    this.#closeUnread();
    if (lacksRetryAfter(error)) response.setHeader('retry-after', retryAfter());
    for (const [name, value] of Object.entries(error.headers ?? {})) response.setHeader(name, value);
    response.writeHead(error.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  }

  #relay(status: number, upstream: IncomingHttpHeaders, stream: Readable, dest: string): void {
    const { telemetry, name, mount } = this.#parts;
    telemetry.upstreamAnswered(name, `${Math.floor(status / 100)}xx`);
    const headers = httpResponseHeaders(upstream, { ...mount, prefix: this.#passed.prefix }, dest);
    if (headers === undefined) {
      stream.destroy();
      this.#note('UPSTREAM_BROKEN', 'a redirect out of the mount');
      return this.fail(new GatewayError('UPSTREAM_BROKEN'));
    }
    const response = this.#response;
    if (response.destroyed) return void stream.destroy();
    this.#closeUnread();
    const cors = response.hasHeader('access-control-allow-origin');
    for (const [field, value] of headers) {
      if (cors && field.startsWith('access-control-')) continue;
      response.appendHeader(field, value);
    }
    this.#relays = true;
    response.writeHead(status);
    // Sent before the first byte of the body: a quiet stream looks alive.
    response.flushHeaders();
    pipeline(stream, response, () => {});
    const expires_at_ms = this.#passed.identity?.expires_at_ms;
    if (expires_at_ms !== undefined && essenceOf(upstream['content-type'] ?? '') === 'text/event-stream')
      endWithIdentity(expires_at_ms, stream, response, this.#parts.clock);
  }

  #failed(error: Error): void {
    if (this.#left.signal.aborted) return;
    const cause = error.cause instanceof Error ? error.cause : error;
    const fault = faultBeforeHead(cause);
    const code = fault.reason === 'UND_ERR_HEADERS_TIMEOUT' ? 'DEADLINE' : fault.code;
    this.#parts.telemetry.upstreamAnswered(this.#parts.name, 'error');
    this.#note(code, fault.reason);
    this.fail(new GatewayError(code));
  }

  #note(code: ErrorCode, reason: string): void {
    const { head, prefix } = this.#passed;
    this.#parts.log.warn({ route: prefix, request_id: head.id, code, reason }, 'the upstream failed');
  }

  /** A connection whose request body is still arriving cannot carry another request. */
  #closeUnread(): void {
    if (!this.#request.complete) this.#response.shouldKeepAlive = false;
  }
}

/** Carries the signal through the plugin, which copies the header object, symbols included. */
const SIGNAL: unique symbol = Symbol('signal');

/** Ends a streamed answer whole when the identity that it was opened under expires. The upstream's stream is let go with it. */
export function endWithIdentity(expires_at_ms: number, stream: Readable, response: Writable, clock: Clock): void {
  let timer: Timer | undefined;
  const look = (): void => {
    const left_ms = expires_at_ms - clock.now_ms();
    if (left_ms > 0) {
      timer = clock.timer(Math.min(left_ms, LOOK_MS), look);
      return;
    }
    stream.unpipe(response);
    response.once('finish', () => stream.destroy());
    response.end();
    timer = clock.timer(END_MS, () => response.destroy());
  };
  response.once('close', () => timer?.cancel());
  look();
}
