import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import type { Call } from '../../src/contract/runtime.js';
import type { ProxiedOptions } from '../../src/runtime/proxied/proxied.js';
import { until } from './e2e/until.js';
import type { FakeExchange, FakeExchangeInit } from './fake-exchange.js';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.js';
import { BRIDGE, type CallInit, fields, legacyCall, openProxied, type ProxiedBench } from './proxied-bench.js';

/** Everything that a client can be asked. */
export const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

export type Answer = Record<string, unknown> & { readonly result?: Record<string, unknown>; readonly error?: Record<string, unknown> };

/** Legacy clients of a modern server behind a proxied runtime; for the tests of one suite, each with a server of its own. */
export class LegacyClients {
  upstream: ModernUpstream = undefined as unknown as ModernUpstream;
  bench: ProxiedBench = undefined as unknown as ProxiedBench;

  constructor() {
    beforeEach(async () => {
      this.upstream = await startModernUpstream();
      this.bench = await this.start();
    });
    afterEach(async () => {
      await this.bench.runtime.close(1000);
      await this.upstream.close();
    });
  }

  /** Another replica; the caller closes it. */
  async start(options: Partial<ProxiedOptions> = {}, keys: readonly string[] = ['k']): Promise<ProxiedBench> {
    const opened = await openProxied(`${this.upstream.url}/mcp`, { protocol: 'auto', bridge: BRIDGE, ...options }, { state_keys: keys });
    if (options.protocol === undefined) await until('the verdict', () => opened.runtime.era.verdict !== undefined);
    return opened;
  }

  send(call: Call, init?: FakeExchangeInit): FakeExchange {
    return this.bench.send(call, init);
  }

  /** Begins a session; returns its id. */
  async begin(call: Call = initialize(), at: ProxiedBench = this.bench): Promise<string> {
    const { headers, body } = await at.send(call).done;
    const session = fields(headers)['mcp-session-id'];
    assert.ok(session !== undefined, body.toString());
    return session;
  }
}

export function initialize(capabilities: object = ALL, protocolVersion = '2025-11-25', init: CallInit = {}): Call {
  return legacyCall('initialize', { protocolVersion, capabilities, clientInfo: { name: 'old', version: '7' } }, init);
}

export function inside(session: string, init: CallInit = {}): CallInit {
  return { ...init, headers: { 'Mcp-Session-Id': session, ...init.headers } };
}

/** A call of the tool `echo`. */
export function tool(session: string, args: object = {}, init: CallInit = {}): Call {
  return { ...legacyCall('tools/call', { name: 'echo', arguments: args }, inside(session, init)), name: 'echo' };
}

/** A client's answer to the request `id` of the server. */
export function response(session: string, id: string, answer: object, init: CallInit = {}): Call {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  return legacyCall('', {}, inside(session, { ...init, over: { kind: 'response', id: JSON.stringify(id), body } }));
}

export async function answerTo(exchange: FakeExchange): Promise<Answer> {
  return JSON.parse((await exchange.done).body.toString());
}

/** The messages that an exchange's stream has carried so far. */
export function said(exchange: FakeExchange): readonly Answer[] {
  return exchange.writes.map((text) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null') as Answer);
}
