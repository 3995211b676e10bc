import type { Clock } from '../../contract/clock.js';
import type { HttpPrepared, HttpRequest, HttpResponse, HttpStream } from '../../contract/http.js';
import type { Log } from '../../contract/log.js';
import type { Server } from '../../contract/server.js';
import { createExecutor } from '../../executor/bounded.js';
import type { Executor } from '../../executor/executor.js';
import { CallDeadline } from '../run/call-deadline.js';
import { crashFields, ServerHost } from '../run/host.js';
import { admitHttp, type PreparedCall } from './admit.js';
import { ValueExchange } from './value-exchange.js';

/** What a handler for a foreign HTTP server needs. It has no deadline and no limit on bodies: the host has them. */
export interface HttpHandlerOptions {
  readonly clock: Clock;
  /** Gets what handlers threw. */
  readonly log: Log;
  /** May be shared; its creator drains it. Default: a private one. */
  readonly executor?: Executor;
  /** Secrets that seal `requestState` and session ids: the first seals, all open. Default: one random key. */
  readonly state_keys?: readonly string[];
  /** Bytes queued for the reader of one event stream; more than one event beyond them ends it as a slow reader's. Default 262 144. */
  readonly max_stream_buffer_bytes?: number;
}

/**
 * One server for any HTTP server: values in, values out. Limits, Host, Origin, keep-alive comments and deadlines are the host's: a
 * call runs until it answers or `signal` aborts.
 */
export interface HttpHandler {
  /** Admits and decodes, and runs nothing. A refusal is the response already. */
  prepare(request: HttpRequest): HttpPrepared | HttpResponse;
  /** Runs what `prepare` admitted, once. Rejects with a TypeError for anything else. `signal`: the client has left. */
  execute(prepared: HttpPrepared, signal?: AbortSignal): Promise<HttpResponse | HttpStream>;
  /** Both. */
  handle(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse | HttpStream>;
  /** Lets calls finish and cancels the rest at `deadline_ms`; later ones are 503. An executor that was handed in is left alone. */
  close(deadline_ms: number): Promise<void>;
}

/**
 * Makes the handler of a server. Throws TypeError when the server was not made by `defineServer`.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { createHttpHandler, defineServer, systemClock } from 'portcullis/server';
 *
 * const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
 * const server = defineServer({ name: 'x', version: '1.0.0', tools: [{ name: 'ping', run: () => 'pong' }] });
 * const handler = createHttpHandler(server, { clock: systemClock, log });
 * const response = await handler.handle({
 *   method: 'POST',
 *   headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
 *   body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"}}'),
 * });
 * assert.equal(response.status, 200);
 * await handler.close(1_000);
 * ```
 */
export function createHttpHandler(server: Server, options: HttpHandlerOptions): HttpHandler {
  const { clock, log, state_keys = [], max_stream_buffer_bytes = 262_144 } = options;
  const executor = options.executor ?? createExecutor({ clock });
  const host = new ServerHost(
    { scope: `http ${server.name}`, server, state_keys },
    {
      clock,
      executor,
      crashed: (request, error) => log.warn(crashFields(request, error), 'a handler failed'),
    },
  );
  const admitted = new WeakMap<HttpPrepared, PreparedCall>();
  const prepare: HttpHandler['prepare'] = (request) => {
    const outcome = admitHttp(request);
    if (outcome.kind === 'response') return outcome;
    const { method, name, revision } = outcome.call;
    const prepared: HttpPrepared = Object.freeze({ kind: 'prepared', method, name, revision });
    admitted.set(prepared, outcome);
    return prepared;
  };
  const execute: HttpHandler['execute'] = async (prepared, signal) => {
    const found = admitted.get(prepared);
    if (found === undefined) throw new TypeError('this was not prepared here, or was executed already');
    admitted.delete(prepared);
    const exchange = new ValueExchange(found, max_stream_buffer_bytes, new CallDeadline(clock, NEVER));
    exchange.leaveWith(signal);
    if (!exchange.ended) host.handle(found.call, exchange);
    return exchange.answer;
  };
  return {
    prepare,
    execute,
    async handle(request, signal) {
      const prepared = prepare(request);
      return prepared.kind === 'response' ? prepared : execute(prepared, signal);
    },
    async close(deadline_ms) {
      if (options.executor === undefined) await executor.drain(deadline_ms);
    },
  };
}

const NEVER = { request_timeout_ms: Number.POSITIVE_INFINITY, request_timeout_max_ms: Number.POSITIVE_INFINITY };
