import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Clock, Timer } from '../contract/clock.js';
import type { Facts, Identity } from '../contract/identity.js';
import type { Log } from '../contract/log.js';
import type { Call } from '../contract/runtime.js';
import type { Server } from '../contract/server.js';
import type { EndReason } from '../contract/telemetry.js';
import { paramsOf } from '../core/call/params.js';
import { NO_ROUTE } from '../core/http/admit.js';
import { crashFields, ServerHost } from '../core/run/host.js';
import { admitCall } from '../core/serve.js';
import { UNDECLARED_REVISION } from '../dialect/methods.js';
import { negotiate } from '../dialect/select.js';
import { GatewayError, type ProtocolFault } from '../errors/error.js';
import { createExecutor } from '../executor/bounded.js';
import type { Executor } from '../executor/executor.js';
import { SILENT } from '../silent-log.js';
import { systemClock } from '../system-clock.js';
import { isId } from '../wire/id.js';
import { LineFramer } from '../wire/line.js';
import { errorText } from '../wire/rpc.js';
import type { Envelope } from '../wire/scan.js';
import type { AnswerVerdict } from '../wire/summary.js';
import { StdioExchange, type StdioLine } from './stdio-exchange.js';
import { bareHead, claimsOf, type OutputEnd, StdioOutput } from './stdio-output.js';

/** Of `serveStdio`. Times in milliseconds, sizes in bytes; RangeError for a limit that is not a positive integer. */
export interface StdioOptions {
  /** Messages, one a line. It is left open. */
  readonly input: Readable;
  /** Written only by this function. It is left open. */
  readonly output: Writable;
  /** Longest message in bytes; a longer one is answered -32600, never held, and skipped. Default 2 000 000. */
  readonly max_line_bytes?: number;
  /** A write that the client has not taken after so long ends the service. Default 5 000. */
  readonly write_timeout_ms?: number;
  /** Progress starts it again. Default 30 000. */
  readonly request_timeout_ms?: number;
  /** With progress, and while the client is asked. Default 300 000. */
  readonly request_timeout_max_ms?: number;
  /** Open `subscriptions/listen`; one more is refused. Default 256. */
  readonly max_subscriptions?: number;
  /** May be shared; its creator drains it. Default: a private one. */
  readonly executor?: Executor;
  /** The caller at the other end, as far as the host knows. Default: anonymous. */
  readonly identity?: Identity;
  readonly facts?: Facts;
  /** Secrets that seal `requestState`. Default: one random key. */
  readonly state_keys?: readonly string[];
  /** Aborts: no more is read, what was admitted has `drain_timeout_ms` to finish. */
  readonly signal?: AbortSignal;
  /** Default 5 000. */
  readonly drain_timeout_ms?: number;
  /** Gets what handlers threw. Must not write to `output`. Default: silent. */
  readonly log?: Log;
  readonly clock?: Clock;
}

/** `eof`: the input ended. `stopped`: the signal. `output_closed`, `write_timeout`: the reader is gone or blocked, so running calls were cancelled. */
export type StdioEnd = 'eof' | 'stopped' | OutputEnd;

/**
 * Serves one server on two streams in every revision (MCP stdio transport), until the input ends and every admitted request is answered.
 * Requests run side by side. A cancelled one is never answered. Resolves with why it ended; throws TypeError when the server was
 * not made by `defineServer`, RangeError for a limit that is not a positive integer.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { PassThrough } from 'node:stream';
 * import { defineServer, serveStdio } from 'portcullis/server';
 *
 * const server = defineServer({ name: 'x', version: '1.0.0', tools: [{ name: 't', run: () => '' }] });
 * const input = new PassThrough();
 * const output = new PassThrough();
 * const served = serveStdio(server, { input, output });
 * input.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
 * assert.equal(await served, 'eof');
 * assert.match(String(output.read()), /"id":1,"result":/);
 * ```
 */
export function serveStdio(server: Server, options: StdioOptions): Promise<StdioEnd> {
  return new StdioService(server, options).ended;
}

class StdioService {
  readonly ended: Promise<StdioEnd>;
  readonly #options: Required<Omit<StdioOptions, 'executor' | 'identity' | 'signal'>> & StdioOptions;
  readonly #host: ServerHost;
  readonly #executor: Executor;
  readonly #output: StdioOutput;
  readonly #framer: LineFramer;
  readonly #open = new Set<StdioExchange>();
  readonly #shared: StdioLine;
  #resolve: (end: StdioEnd) => void = () => undefined;
  /** What `initialize` agreed on: the line is one client's. */
  #revision: string = UNDECLARED_REVISION;
  #listening = 0;
  #count = 0;
  #end: StdioEnd | undefined;
  #drain: Timer | undefined;
  #stopReading: () => void = () => undefined;
  #release: () => void = () => undefined;

  constructor(server: Server, options: StdioOptions) {
    this.#options = { ...DEFAULTS, ...options };
    for (const name of LIMITS) toLimit(name, this.#options[name]);
    const { clock, log, state_keys, input, output, max_line_bytes, write_timeout_ms } = this.#options;
    this.#executor = options.executor ?? createExecutor({ clock });
    this.#host = new ServerHost(
      { scope: `stdio ${randomUUID()}`, server, state_keys, headless: true },
      {
        clock,
        executor: this.#executor,
        crashed: (request, error) => log.warn(crashFields(request, error), 'a handler failed'),
      },
    );
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    this.#output = new StdioOutput(output, {
      clock,
      write_timeout_ms,
      drained: () => this.#drained(),
      failed: (end) => this.#broken(end),
    });
    const { request_timeout_ms, request_timeout_max_ms } = this.#options;
    this.#shared = {
      clock,
      request_timeout_ms,
      request_timeout_max_ms,
      closing: () => this.#end !== undefined,
      write: (json) => this.#write(json),
      over: (exchange) => this.#over(exchange),
    };
    this.#framer = new LineFramer({
      max_line_bytes,
      onLine: (line) => this.#line(line),
      onTooLong: ({ answer }) => this.#tooLong(answer),
    });
    this.#listen(input);
  }

  #listen(input: Readable): void {
    const { signal } = this.#options;
    const read = (chunk: Buffer | string) => this.#framer.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    const ended = () => this.#stop('eof');
    const stopped = () => this.#stop('stopped');
    input.on('data', read).on('end', ended).on('close', ended).on('error', ended);
    signal?.addEventListener('abort', stopped, { once: true });
    this.#stopReading = () => void input.off('data', read).off('end', ended).off('close', ended).pause();
    this.#release = () => {
      this.#stopReading();
      signal?.removeEventListener('abort', stopped);
      this.#drain?.cancel();
    };
    if (signal?.aborted === true) stopped();
    else if (input.destroyed || input.readableEnded) ended();
  }

  /** While the client is behind, nothing more of it is read: what waits for it stays bounded. */
  #write(json: string): boolean {
    const free = this.#output.write(json);
    if (!free) this.#options.input.pause();
    return free;
  }

  #drained(): void {
    for (const exchange of this.#open) exchange.resume();
    if (this.#end === undefined && !this.#output.blocked) this.#options.input.resume();
  }

  #line(line: Uint8Array): void {
    if (line.length === 0 || this.#end !== undefined) return;
    const body = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
    const { identity, facts } = this.#options;
    const head = (envelope: Envelope) => bareHead(`stdio-${this.#count + 1}`, claimsOf(envelope, this.#revision));
    const admitted = admitCall(body, { head, route: NO_ROUTE, identity, facts });
    if (!admitted.ok) {
      // Nothing answers a notification, nor a client's response.
      const answered = admitted.kind === undefined || admitted.kind === 'request';
      return answered ? this.#refuse(admitted.fault, admitted.id) : undefined;
    }
    const { call, envelope } = admitted;
    const { kind, method } = call;
    if (kind === 'notification') return method === 'notifications/cancelled' ? this.#cancel(paramsOf(body).requestId) : undefined;
    if (kind === 'request' && method === 'initialize') this.#revision = negotiate(envelope.requested_version).revision;
    this.#count++;
    this.#run(call);
  }

  #run(call: Call): void {
    const exchange = new StdioExchange(call, this.#shared);
    this.#open.add(exchange);
    if (exchange.listens && ++this.#listening > this.#options.max_subscriptions) {
      return exchange.fail(new GatewayError('TOO_MANY_STREAMS'));
    }
    this.#host.handle(call, exchange);
  }

  #cancel(id: unknown): void {
    for (const exchange of this.#open) if (exchange.isOf(id)) exchange.leave('client');
  }

  #tooLong({ kind, id }: AnswerVerdict): void {
    if (this.#end !== undefined) return;
    const known = kind === 'request' && id !== undefined && isId(id) ? id : undefined;
    this.#refuse({ code: 'INVALID_REQUEST', detail: `A message has at most ${this.#options.max_line_bytes} bytes.` }, known);
  }

  #refuse(fault: ProtocolFault, id: string | undefined): void {
    this.#write(errorText(new GatewayError(fault.code, fault), id, `stdio-${++this.#count}`));
  }

  #over(exchange: StdioExchange): void {
    if (exchange.listens) this.#listening--;
    this.#open.delete(exchange);
    if (this.#end !== undefined && this.#open.size === 0) this.#finish();
  }

  /** No more is read; what was admitted finishes. */
  #stop(end: 'eof' | 'stopped'): void {
    // The signal counts after the end of the input too: a handler may still run.
    if (end === 'stopped') this.#drain ??= this.#options.clock.timer(this.#options.drain_timeout_ms, () => this.#leave('drain'));
    if (this.#end !== undefined) return;
    if (end === 'eof') this.#framer.end();
    this.#end = end;
    this.#stopReading();
    for (const exchange of this.#open) exchange.inputEnded();
    if (this.#open.size === 0) this.#finish();
  }

  /** The reader is gone. */
  #broken(end: OutputEnd): void {
    this.#release();
    this.#end = end;
    this.#leave('client');
    this.#finish();
  }

  #leave(reason: EndReason): void {
    for (const exchange of this.#open) exchange.leave(reason);
  }

  #finish(): void {
    this.#release();
    const drained = this.#options.executor === undefined ? this.#executor.drain(0) : Promise.resolve();
    void Promise.all([drained, this.#output.flushed()]).then(() => {
      this.#output.release();
      this.#resolve(this.#end ?? 'eof');
    });
  }
}

const DEFAULTS = {
  max_line_bytes: 2_000_000,
  write_timeout_ms: 5_000,
  request_timeout_ms: 30_000,
  request_timeout_max_ms: 300_000,
  max_subscriptions: 256,
  drain_timeout_ms: 5_000,
  facts: Object.freeze({}),
  state_keys: [],
  log: SILENT,
  clock: systemClock,
} as const;

const LIMITS = ['max_line_bytes', 'write_timeout_ms', 'request_timeout_ms', 'request_timeout_max_ms', 'max_subscriptions'] as const;

function toLimit(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value <= 0) throw new RangeError(`stdio: ${name} must be a positive integer, not ${String(value)}`);
}
