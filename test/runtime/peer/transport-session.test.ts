import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Transport, TransportOptions, WireMessage } from '../../../src/contract/transport.js';
import { createTransportRuntime } from '../../../src/runtime/peer/transport.js';
import { createSessionSeal } from '../../../src/runtime/shared/session-seal.js';
import { makeLog } from '../../../src/testing.js';
import { until } from '../../support/e2e/until.js';
import { createFakeExchange } from '../../support/fake-exchange.js';
import { createTold, fields, legacyBare, legacyCall, PEER_BRIDGE, realClock } from '../../support/proxied-bench.js';

/** A legacy server behind a transport of one answer a message; a tool call is answered with this HTTP status. */
function open(status: number, session_id: string | undefined) {
  const shutdowns: Transport[] = [];
  const make = (): Transport => {
    let options: TransportOptions;
    const own: Transport = {
      start: (given) => Promise.resolve(void (options = given)),
      sendMessage(text) {
        const { id, method } = JSON.parse(text) as { readonly id?: number; readonly method: string };
        if (method === 'server/discover' || method === 'tools/call')
          return Promise.resolve({ ok: false, fault: { code: 'REFUSED', message: 'no', status: method === 'tools/call' ? status : 400 } });
        const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' }, tools: [] };
        if (id !== undefined) options.receive({ jsonrpc: '2.0', id, result } as unknown as WireMessage);
        return Promise.resolve({ ok: true, value: undefined });
      },
      shutdown: () => Promise.resolve({ ok: true, value: void shutdowns.push(own) }),
      supportedProtocolVersions: () => 'all',
      extractMetadata: () => (session_id === undefined ? {} : { session_id }),
    };
    return own;
  };
  const runtime = createTransportRuntime(
    {
      name: 'far',
      connections: 4,
      max_pending: 8,
      start_timeout_ms: 5000,
      max_message_bytes: 100_000,
      max_sessions: 4,
      max_sessions_per_caller: 4,
      idle_ttl_ms: 60_000,
      bridge: PEER_BRIDGE,
      version: '1',
    },
    {
      log: makeLog(),
      clock: realClock,
      telemetry: createTold().telemetry,
      seal: createSessionSeal({ keys: ['test secret'], ttl_s: 3600, clock: realClock }),
      open: () => Promise.resolve(make()),
      junk: () => undefined,
      ended: () => undefined,
    },
  );
  const send = (call: ReturnType<typeof legacyCall>) => {
    const exchange = createFakeExchange();
    runtime.handle(call, exchange);
    return exchange;
  };
  return { runtime, send, shutdowns };
}

describe('a legacy session over a transport', () => {
  const begin = async (status: number, session_id: string | undefined) => {
    const bench = open(status, session_id);
    await bench.runtime.start(new AbortController().signal);
    await until('the server is ready', () => bench.runtime.health === 'ready');
    const headers = { 'mcp-session-id': fields((await bench.send(legacyCall('initialize')).done).headers)['mcp-session-id'] ?? '' };
    const stream = bench.send(legacyBare('get_stream', { headers }));
    await stream.head;
    return { ...bench, headers, stream };
  };

  it('ends with its stream when the server answers that it does not know it', async () => {
    const { runtime, send, headers, stream, shutdowns } = await begin(404, 's-1');
    assert.equal((await send(legacyCall('tools/call', { name: 'x' }, { headers })).done).error?.code, 'UPSTREAM_ENDED');
    assert.equal((await stream.done).reason, 'source');
    assert.equal((await send(legacyCall('tools/list', {}, { headers })).done).error?.code, 'SESSION_NOT_FOUND');
    assert.equal(shutdowns.length, 1);
    await runtime.close(1000);
  });

  it('ends with its stream when the client ends it', async () => {
    const { runtime, send, headers, stream } = await begin(404, 's-1');
    assert.equal((await send(legacyBare('session_end', { headers })).done).status, 200);
    assert.equal((await stream.done).reason, 'source');
    await runtime.close(1000);
  });

  it('goes on after any other refusal', async () => {
    for (const [status, session_id] of [
      [400, 's-1'],
      [500, 's-1'],
      [404, undefined],
    ] as const) {
      const { runtime, send, headers, stream } = await begin(status, session_id);
      assert.equal((await send(legacyCall('tools/call', { name: 'x' }, { headers })).done).rpc_code, -32603);
      assert.equal((await send(legacyCall('tools/list', {}, { headers })).done).status, 200);
      assert.equal(stream.ended, false);
      await runtime.close(1000);
    }
  });
});
