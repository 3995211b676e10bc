import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport, TransportOptions } from '../../../src/contract/transport.js';
import { createTransportRuntime } from '../../../src/runtime/peer/transport.js';
import { createSessionSeal } from '../../../src/runtime/shared/session-seal.js';
import { makeLog } from '../../../src/testing.js';
import { createFakeExchange } from '../../support/fake-exchange.js';
import { type CallInit, createTold, modernCall, PEER_BRIDGE, realClock } from '../../support/proxied-bench.js';
import { messageOf } from '../../support/stdio/bench.js';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly n: number } };
  readonly result?: { readonly content?: { readonly n: number } };
}

/** A legacy server that asks in each call, after a random while, for the number that the call is about, and answers what it was told. */
function askingServer(): Transport {
  let options: TransportOptions;
  const open = new Map<number | string, (answer: Message) => void>();
  const say = (message: object): void => options.receive({ jsonrpc: '2.0', ...message });
  const answer = async ({ id, method, params, result }: Message): Promise<void> => {
    if (method === undefined) return open.get(id as string)?.({ result } as Message);
    if (id === undefined) return;
    if (method === 'initialize')
      return say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
    if (method === 'tools/list') return say({ id, result: { tools: [] } });
    if (method !== 'tools/call') return say({ id, error: { code: -32601, message: 'no' } });
    const n = params?.arguments?.n;
    await sleep(Math.random() * 10);
    // Each server gives its questions the same ids.
    open.set('same', (told) => say({ id, result: { content: [], structuredContent: { n, told: told.result?.content?.n } } }));
    say({ id: 'same', method: 'elicitation/create', params: { message: `${n}`, requestedSchema: { type: 'object' } } });
  };
  return {
    start: async (given) => {
      options = given;
    },
    sendMessage: async (message) => {
      void answer(JSON.parse(message) as Message);
      return { ok: true, value: undefined };
    },
    shutdown: async () => ({ ok: true, value: undefined }),
    supportedProtocolVersions: () => 'all',
  };
}

describe('questions of many servers behind one pipe each', () => {
  // Timers of the gateway do not keep the process.
  const awake = setInterval(() => undefined, 1000);
  after(() => clearInterval(awake));

  it('1 000 calls that overlap: each client gets its own question, and its answer reaches its own call', { timeout: 60_000 }, async () => {
    const told = createTold();
    const limits = { max_sessions: 256, max_sessions_per_caller: 4, connections: 260, max_pending: 1024, idle_ttl_ms: 60_000 };
    const runtime = createTransportRuntime(
      {
        name: 'far',
        ...limits,
        start_timeout_ms: 10_000,
        max_message_bytes: 1_000_000,
        version: '0',
        bridge: { ...PEER_BRIDGE, max_held_per_caller: 1024 },
      },
      {
        log: makeLog(),
        clock: realClock,
        telemetry: told.telemetry,
        seal: createSessionSeal({ keys: undefined, ttl_s: 60, clock: realClock }),
        open: async () => askingServer(),
        junk: () => undefined,
        ended: () => undefined,
      },
    );
    await runtime.start(new AbortController().signal);
    const wrong: string[] = [];
    const send = async (n: number, init: CallInit, more: object): Promise<unknown> => {
      const exchange = createFakeExchange();
      const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
      runtime.handle(modernCall('tools/call', { name: 't', arguments: { n }, _meta, ...more }, init), exchange);
      const answer = await exchange.done;
      return answer.error === undefined ? messageOf(answer).result : { code: answer.error.code };
    };
    const one = async (n: number): Promise<void> => {
      const init: CallInit = n % 3 === 0 ? {} : { identity: { principal: `p${n % 7}` } };
      const asked = (await send(n, init, {})) as {
        readonly requestState?: string;
        readonly inputRequests?: { readonly q1?: { readonly params: { readonly message: string } } };
      };
      if (asked.inputRequests?.q1?.params.message !== `${n}`) wrong.push(`${n} was asked ${JSON.stringify(asked)}`);
      await sleep(Math.random() * 10);
      const inputResponses = { q1: { action: 'accept', content: { n } } };
      const result = JSON.stringify(await send(n, init, { requestState: asked.requestState, inputResponses }));
      if (!result.includes(`"structuredContent":{"n":${n},"told":${n}}`)) wrong.push(`${n} got ${result}`);
    };
    for (let from = 0; from < 1000; from += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => one(from + i)));
    assert.deepEqual(wrong, []);
    assert.equal(runtime.peers.held, 0);
    await runtime.close(1000);
    assert.deepEqual([runtime.peers.leased, runtime.peers.calls], [0, 0]);
  });
});
