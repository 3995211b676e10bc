import type { Server } from '../contract/server.js';
import type { Transport } from '../contract/transport.js';
import { SILENT } from '../silent-log.js';
import { holdingClock } from '../system-clock.js';
import { createMemoryTransport } from '../transport/memory.js';
import { wrongTransport } from '../transport/misbehaviour.js';
import { createStdioTransport, type StdioTransportOptions } from '../transport/stdio-client.js';
import { createHttpTransport, type HttpTransportOptions } from '../transport/streamable-http.js';
import { version } from '../version.js';
import { Client } from './client.js';
import { type ConnectOptions, settle } from './options.js';
import { capabilitiesOf } from './questions.js';

/** Where the server is: one of four. Options of HTTP are those of `createHttpTransport`, without `url`. */
export type Target =
  | ({ readonly http: string | URL } & Omit<HttpTransportOptions, 'url'>)
  | { readonly stdio: StdioTransportOptions }
  /** Made by `defineServer`, in this process. */
  | { readonly server: Server }
  /** Anybody's, e.g. from `loadTransport`. It is started here, and shut down by `close`. */
  | { readonly transport: Transport };

/**
 * Connects to an MCP server and agrees with it on an era and a revision. Rejects with `ClientError`; with TypeError or RangeError for
 * options that cannot be. The caller closes it.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { createServer } from 'node:http';
 * import type { AddressInfo } from 'node:net';
 * import { connect } from 'portcullis/client';
 * import { createNodeMount } from 'portcullis/node';
 * import { defineServer } from 'portcullis/server';
 *
 * const mount = createNodeMount(defineServer({ name: 'x', version: '1.0.0', tools: [{ name: 'ping', run: () => 'pong' }] }));
 * const http = createServer((request, response) => mount(request, response));
 * await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
 *
 * const client = await connect({ http: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` }, { timeout_ms: 5_000 });
 * assert.deepEqual((await client.listTools()).map(({ name }) => name), ['ping']);
 * assert.deepEqual((await client.callTool('ping')).content, [{ type: 'text', text: 'pong' }]);
 * await client.close();
 * await mount.close(1_000);
 * http.close();
 * ```
 */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const { elicit, sample, roots, onLog, log = SILENT, clock = holdingClock, log_level } = options;
  const callbacks = {
    ...(elicit === undefined ? {} : { elicit }),
    ...(sample === undefined ? {} : { sample }),
    ...(roots === undefined ? {} : { roots }),
  };
  return Client.open(toTransport(target), {
    self: {
      client_info: options.client_info ?? { name: 'portcullis', version },
      capabilities: { ...capabilitiesOf(callbacks), ...options.capabilities },
      log_level,
    },
    settled: settle(options),
    callbacks,
    onLog,
    log,
    clock,
  });
}

function toTransport(target: Target): Transport {
  if ('http' in target) {
    const { http, ...rest } = target;
    return createHttpTransport({ ...rest, url: http });
  }
  if ('stdio' in target) return createStdioTransport(target.stdio);
  if ('server' in target) return createMemoryTransport(target.server);
  const wrong = wrongTransport(target.transport);
  if (wrong !== undefined) throw new TypeError(`connect: the transport ${wrong}`);
  return target.transport;
}
