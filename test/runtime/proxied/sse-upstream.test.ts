import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import type { ProxiedDeps, ProxiedOptions } from '../../../src/runtime/proxied/proxied.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import type { FakeExchange } from '../../support/fake-exchange.js';
import {
  type CallInit,
  fields,
  legacyBare,
  legacyCall,
  modernCall,
  openProxied,
  type ProxiedBench,
  realClock,
} from '../../support/proxied-bench.js';
import { type SseSession, type SseUpstream, startSseUpstream } from '../../support/sse-upstream.js';

const until = (done: () => boolean | Promise<boolean>): Promise<void> => untilNamed(done.toString(), done);
const BRIDGE = {
  probe_timeout_ms: 5_000,
  era_ttl_ms: 300_000,
  max_sessions: 256,
  max_sessions_per_caller: 8,
  session_idle_ms: 300_000,
  max_held: 1024,
  max_held_per_caller: 16,
  hold_ttl_ms: 300_000,
};
const ALICE = { identity: { principal: 'alice' } };
const BOB = { identity: { principal: 'bob' } };
const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };

describe('proxied: a server of HTTP+SSE', () => {
  let upstream: SseUpstream;
  let bench: ProxiedBench;

  const open = async (options: Partial<ProxiedOptions> = {}, deps: Partial<ProxiedDeps> = {}): Promise<void> => {
    upstream = await startSseUpstream();
    bench = await openProxied(`${upstream.url}/sse?key=1`, { transport: 'sse', bridge: BRIDGE, ...options }, deps);
  };
  afterEach(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  const tool = (init: CallInit = ALICE, more: object = {}, capabilities: object = {}): Call =>
    modernCall(
      'tools/call',
      { name: 'echo', arguments: {}, _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities }, ...more },
      init,
    );
  const messageOf = async (exchange: FakeExchange): Promise<{ result?: Record<string, unknown>; error?: object }> => {
    const { body, error } = await exchange.done;
    assert.equal(error, undefined, error?.code);
    return JSON.parse(body[0] === 0x7b ? body.toString() : (/data: (.*)\n\n$/s.exec(exchange.writes.at(-1) ?? '')?.[1] ?? ''));
  };
  const textOf = async (exchange: FakeExchange): Promise<string> => {
    const { result } = await messageOf(exchange);
    return (result?.content as { text: string }[] | undefined)?.[0]?.text ?? '';
  };
  const codeOf = async (exchange: FakeExchange): Promise<string | undefined> => (await exchange.done).error?.code;
  /** Begins a legacy session; its sealed id. */
  const begin = async (init: CallInit = ALICE): Promise<string> => {
    const exchange = bench.send(legacyCall('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} }, init));
    const { headers, error } = await exchange.done;
    assert.equal(error, undefined, error?.code);
    return fields(headers)['mcp-session-id'] as string;
  };
  const within = (session: string, init: CallInit = ALICE): CallInit => ({ ...init, headers: { 'Mcp-Session-Id': session } });
  const last = (): SseSession => upstream.sessions.at(-1) as SseSession;
  const methods = ({ messages }: SseSession): readonly string[] => messages.map(({ method }) => method);

  it('modern clients: discover, list and calls over one session of the gateway', async () => {
    await open();
    const { result } = await messageOf(bench.send(modernCall('server/discover', {}, ALICE)));
    assert.deepEqual(result?.supportedVersions, ['2026-07-28']);
    assert.ok(Array.isArray((await messageOf(bench.send(modernCall('tools/list', {}, ALICE)))).result?.tools));
    assert.equal(await textOf(bench.send(tool())), 'echo in s1');
    assert.equal(upstream.sessions.length, 1);
    assert.deepEqual(bench.runtime.era, { verdict: 'legacy', reason: 'transport: sse', leased: 1, held: 0, bridged: 0 });
    assert.equal(upstream.seen[0]?.url, '/sse?key=1');
    assert.equal(bench.runtime.stats().running, 1);
  });

  it('legacy clients: a session each, by an id that opens for their caller alone; DELETE ends the stream', async () => {
    await open();
    const [alice, bob] = [await begin(ALICE), await begin(BOB)];
    assert.equal(await textOf(bench.send(legacyCall('tools/call', { name: 'echo' }, within(alice)))), 'echo in s1');
    assert.equal(await textOf(bench.send(legacyCall('tools/call', { name: 'echo' }, within(bob, BOB)))), 'echo in s2');
    assert.equal(await codeOf(bench.send(legacyCall('tools/call', { name: 'echo' }, within(alice, BOB)))), 'SESSION_NOT_FOUND');
    assert.equal((await bench.send(legacyBare('session_end', within(alice))).done).status, 200);
    await until(() => upstream.open.size === 1);
    assert.equal(await codeOf(bench.send(legacyCall('tools/list', {}, within(alice)))), 'SESSION_NOT_FOUND');
  });

  it('a question to a legacy client goes out on the stream of its call, and the answer back to the server', async () => {
    await open();
    const session = await begin();
    upstream.special = (message, own, response) => {
      if (message.method === undefined) upstream.say(own, { id: 'call', result: { content: [] } });
      if (message.method !== 'tools/call') return false;
      response.writeHead(202).end();
      upstream.say(own, { id: 'ask', method: 'elicitation/create', params: FORM });
      return true;
    };
    const call = bench.send(legacyCall('tools/call', { name: 'echo' }, within(session)));
    await call.wrote(1);
    assert.match(call.writes[0] ?? '', /"id":"ask"/);
    const answer = Buffer.from('{"jsonrpc":"2.0","id":"ask","result":{"action":"decline"}}');
    const { status } = await bench.send(legacyCall('', {}, { ...within(session), over: { kind: 'response', id: '"ask"', body: answer } }))
      .done;
    assert.equal(status, 202);
    await until(() => last().messages.some(({ result }) => (result as { action?: string } | undefined)?.action === 'decline'));
    call.cancel('client');
  });

  it('a question to a modern client becomes input_required, and its retry answers it; calls at the same time have sessions for themselves', async () => {
    await open();
    const calls = new Map<string, number | string>();
    upstream.special = (message, own, response) => {
      if (message.method === undefined) upstream.say(own, { id: calls.get(own.id), result: { content: [{ type: 'text', text: own.id }] } });
      if (message.method !== 'tools/call') return false;
      calls.set(own.id, message.id as number);
      response.writeHead(202).end();
      upstream.say(own, { id: 1, method: 'elicitation/create', params: { ...FORM, message: own.id } });
      return true;
    };
    const asked = await Promise.all([1, 2].map(() => messageOf(bench.send(tool(ALICE, {}, { elicitation: {} })))));
    assert.equal(upstream.sessions.length, 2);
    for (const { result } of asked) {
      assert.equal(result?.resultType, 'input_required');
      const [key, question] = Object.entries(result?.inputRequests as Record<string, { params: { message: string } }>)[0] ?? [];
      const inputResponses = { [key as string]: { action: 'accept', content: {} } };
      const retry = bench.send(tool(ALICE, { inputResponses, requestState: result?.requestState }, { elicitation: {} }));
      assert.equal(await textOf(retry), question?.params.message);
    }
  });

  for (const [what, endpoint] of [
    ['another origin', 'http://127.0.0.1:1/messages'],
    ['another scheme', 'https://127.0.0.1/messages'],
    ['userinfo', '//user@{host}/messages'],
    ['a space', '/mess ages'],
    ['2 049 characters', `/${'m'.repeat(2048)}`],
    ['nothing', ''],
  ] as const) {
    it(`an endpoint with ${what} opens no session, and no message is sent`, async () => {
      await open();
      upstream.endpoint = () => endpoint.replace('{host}', new URL(upstream.url).host);
      if (what === 'nothing') upstream.endpoint = () => 'http://';
      assert.equal(await codeOf(bench.send(tool())), 'UPSTREAM_BROKEN');
      assert.equal(await codeOf(bench.send(legacyCall('initialize', {}, ALICE))), 'UPSTREAM_BROKEN');
      assert.equal(upstream.seen.filter(({ method }) => method === 'POST').length, 0);
      await until(() => upstream.open.size === 0 && bench.runtime.era.leased === 0);
      assert.ok(bench.log.lines.some((line) => JSON.stringify(line).includes('HTTP+SSE')));
    });
  }

  it('a server that names no endpoint is given up after 10 s', async () => {
    const clock = { ...realClock, timer: (ms: number, run: () => void) => realClock.timer(ms === 10_000 ? 50 : ms, run) };
    await open({}, { clock });
    upstream.endpoint = () => undefined;
    assert.equal(await codeOf(bench.send(tool())), 'UPSTREAM_BROKEN');
    await until(() => upstream.open.size === 0);
  });

  for (const [status, code] of [
    [401, 'UPSTREAM_REFUSED'],
    [404, 'UPSTREAM_BROKEN'],
    [302, 'UPSTREAM_BROKEN'],
    [500, 'UPSTREAM_BROKEN'],
  ] as const) {
    it(`GET that is answered with ${status} is ${code}`, async () => {
      await open();
      upstream.refuses = (response) => {
        response.writeHead(status, { location: '/elsewhere' }).end();
        return true;
      };
      assert.equal(await codeOf(bench.send(tool())), code);
      assert.equal(await codeOf(bench.send(legacyCall('initialize', {}, ALICE))), code);
      assert.equal(bench.runtime.era.leased, 0);
    });
  }

  it('a stream that ends is a lost session: its call ends, the next modern one opens another, a legacy client has to', async () => {
    await open();
    const session = await begin();
    const legacy = last();
    assert.equal(await textOf(bench.send(tool())), 'echo in s2');
    upstream.special = ({ method }, _own, response) => {
      if (method === 'tools/call') response.writeHead(202).end();
      return method === 'tools/call';
    };
    const call = bench.send(tool());
    await until(() => methods(last()).filter((method) => method === 'tools/call').length === 2);
    last().stream.end();
    legacy.stream.destroy();
    assert.equal(await codeOf(call), 'UPSTREAM_ENDED');
    upstream.special = () => false;
    assert.equal(await textOf(bench.send(tool())), 'echo in s3');
    await until(async () => (await codeOf(bench.send(legacyCall('tools/list', {}, within(session))))) === 'SESSION_NOT_FOUND');
    assert.ok(bench.told.includes('session alpha lost'));
  });

  it('a POST of which the server says 404 was not begun: it is sent again in a new session, once', async () => {
    await open();
    assert.equal(await textOf(bench.send(tool())), 'echo in s1');
    upstream.special = ({ method }, { id }, response) => {
      if (method !== 'tools/call' || id !== 's1') return false;
      response.writeHead(404).end();
      return true;
    };
    assert.equal(await textOf(bench.send(tool())), 'echo in s2');
    upstream.special = ({ method }, _own, response) => {
      if (method === 'tools/call') response.writeHead(404).end();
      return method === 'tools/call';
    };
    assert.equal(await codeOf(bench.send(tool())), 'UPSTREAM_BROKEN');
    assert.equal(upstream.sessions.flatMap(methods).filter((method) => method === 'tools/call').length, 5);
  });

  it('an event larger than max_event_bytes ends the session', async () => {
    await open({ max_event_bytes: 20_000 });
    upstream.special = ({ id, method }, own, response) => {
      if (method !== 'tools/call') return false;
      response.writeHead(202).end();
      upstream.say(own, { id, result: { content: [{ type: 'text', text: 'x'.repeat(30_000) }] } });
      return true;
    };
    assert.equal(await codeOf(bench.send(tool())), 'UPSTREAM_ENDED');
    await until(() => upstream.open.size === 0);
  });

  it('nothing is sent before the server has taken initialized', async () => {
    await open();
    let taken = 0;
    upstream.special = ({ method }, { messages }, response) => {
      if (method !== 'notifications/initialized') return false;
      const before = messages.length;
      setTimeout(() => {
        taken = messages.length - before;
        response.writeHead(202).end();
      }, 100);
      return true;
    };
    assert.equal(await textOf(bench.send(tool())), 'echo in s1');
    assert.equal(taken, 0);
    assert.deepEqual(methods(last()).slice(0, 2), ['initialize', 'notifications/initialized']);
  });

  it('sessions of both kinds of clients share the streams: an idle one gives way to its kind, a busy one does not', async () => {
    await open({ max_streams: 2 });
    const alice = await begin(ALICE);
    const bob = await begin(BOB);
    assert.equal(await codeOf(bench.send(tool())), 'OVERLOADED');
    await begin(BOB);
    assert.equal(await codeOf(bench.send(legacyCall('tools/list', {}, within(alice)))), 'SESSION_NOT_FOUND');
    assert.equal((await bench.send(legacyBare('session_end', within(bob, BOB))).done).status, 200);
    await until(() => upstream.open.size === 1);
    upstream.special = ({ method }, _own, response) => {
      if (method === 'tools/call') response.writeHead(202).end();
      return method === 'tools/call';
    };
    const busy = bench.send(tool());
    await until(() => upstream.sessions.some((session) => methods(session).includes('tools/call')));
    assert.equal(await codeOf(bench.send(tool(BOB))), 'OVERLOADED');
    busy.cancel('client');
  });

  it('cancelling a call tells the server, and its POST does not keep a place', async () => {
    await open({ connections: 4, max_running_per_caller: 1 });
    upstream.special = ({ method }) => method === 'tools/call';
    const call = bench.send(tool());
    await until(() => upstream.sessions.some((session) => methods(session).includes('tools/call')));
    call.cancel('client');
    await until(() => methods(last()).includes('notifications/cancelled'));
    upstream.special = () => false;
    assert.equal(await textOf(bench.send(tool())), 'echo in s1');
  });

  it('the server is told who calls, in every request', async () => {
    await open();
    const route = { forward_identity_header: 'x-caller' };
    assert.equal(await textOf(bench.send(tool({ ...ALICE, route }))), 'echo in s1');
    const session = await begin({ ...BOB, route });
    await bench.send(legacyCall('tools/list', {}, { ...within(session, BOB), route })).done;
    const named = upstream.seen.map(({ headers }) => JSON.parse(Buffer.from(String(headers['x-caller']), 'base64url').toString()).sub);
    assert.ok(named.length >= 8);
    assert.deepEqual([...new Set(named)], ['alice', 'bob']);
  });
});
