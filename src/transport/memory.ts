import { PassThrough, Writable } from 'node:stream';
import type { Server } from '../contract/server.js';
import type { SendOptions, ShutdownOptions, Transport, TransportOptions, TransportOutcome } from '../contract/transport.js';
import { LineFramer } from '../wire/line.js';
import { CLOSED, DONE } from './outcomes.js';
import { serveStdio } from './stdio.js';

/**
 * MCP with a server in this process that `defineServer` made, in every revision and without a socket.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect, createMemoryTransport } from 'portcullis/client';
 * import { defineServer } from 'portcullis/server';
 *
 * const server = defineServer({ name: 'x', version: '1.0.0', tools: [{ name: 'ping', run: () => 'pong' }] });
 * const client = await connect({ transport: createMemoryTransport(server) });
 * assert.equal(client.server.server_info?.name, 'x');
 * await client.close();
 * ```
 */
export function createMemoryTransport(server: Server): Transport {
  return new MemoryTransport(server);
}

class MemoryTransport implements Transport {
  readonly #server: Server;
  readonly #input = new PassThrough();
  readonly #stop = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(server: Server) {
    this.#server = server;
  }

  start({ receive, closed, clock, log }: TransportOptions): Promise<void> {
    const framer = new LineFramer({ max_line_bytes: MAX_LINE_BYTES, onLine: receive, onTooLong: () => undefined });
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        framer.push(chunk);
        done();
      },
    });
    const { signal } = this.#stop;
    const limits = { max_line_bytes: MAX_LINE_BYTES, drain_timeout_ms: HURRIED_DRAIN_MS };
    this.#ended = serveStdio(this.#server, { input: this.#input, output, ...limits, clock, log, signal }).then(() => {
      if (!this.#closed) closed({ code: 'ENDED', message: 'the server in this process ended' });
    });
    return Promise.resolve();
  }

  sendMessage(message: string, _options?: SendOptions): Promise<TransportOutcome<void>> {
    if (this.#closed) return Promise.resolve({ ok: false, fault: CLOSED });
    this.#input.write(`${message}\n`);
    return Promise.resolve(DONE);
  }

  async shutdown({ signal }: ShutdownOptions = {}): Promise<TransportOutcome<void>> {
    this.#closed = true;
    const hurry = (): void => this.#stop.abort();
    signal?.addEventListener('abort', hurry, { once: true });
    if (signal?.aborted === true) hurry();
    this.#input.end();
    await this.#ended;
    signal?.removeEventListener('abort', hurry);
    return DONE;
  }

  supportedProtocolVersions(): 'all' {
    return 'all';
  }
}

/** Time left to handlers once the caller no longer waits. */
const HURRIED_DRAIN_MS = 100;
/** No wire is in between: the longest message that is allowed anywhere. */
const MAX_LINE_BYTES = 268_435_456;
