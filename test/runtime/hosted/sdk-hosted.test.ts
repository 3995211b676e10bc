import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createGateway, type Gateway } from '../../../src/index.js';
import { until } from '../../support/e2e/until.js';
import { aborted, hanging } from '../../support/sdk-servers/v2.js';

const moduleOf = (name: string): string => fileURLToPath(new URL(`../../support/sdk-servers/${name}.js`, import.meta.url));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const textOf = (result: unknown): string => (result as { readonly content: readonly { readonly text: string }[] }).content[0]?.text ?? '';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('official SDK servers hosted in process', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = createGateway({
      listener: { port: 0 },
      ops: { enabled: false },
      gates: { key: { use: 'api-key', options: { keys: ['ann', 'bob'].map((name) => ({ name, sha256: sha256(name) })) } } },
      runtimes: { v1: { kind: 'hosted', module: moduleOf('v1') }, v2: { kind: 'hosted', module: moduleOf('v2') } },
      routes: ['v1', 'v2'].map((name) => ({ path: `/${name}/mcp`, gates: ['key'], runtime: name })),
    });
    await gateway.start();
  });
  after(() => gateway.close());

  const modern = (path: string, key: string, name: string, args: object, signal?: AbortSignal): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: META } }),
      ...(signal === undefined ? {} : { signal }),
    });

  for (const route of ['v1', 'v2']) {
    test(`a legacy client uses a ${route} server, progress included`, async () => {
      const client = new ClientV1({ name: 'c', version: '0' });
      const headers = { 'x-api-key': 'ann' };
      await client.connect(new TransportV1(new URL(`${gateway.url}/${route}/mcp`), { requestInit: { headers } }));
      assert.equal(textOf(await client.callTool({ name: 'whoami' })), 'ann');
      if (route === 'v1') {
        const seen: number[] = [];
        await client.callTool({ name: 'steps' }, undefined, { onprogress: ({ progress }) => void seen.push(progress) });
        assert.deepEqual(seen, [1, 2, 3]);
      }
      await client.close();
    });
  }

  test('initialize is answered with the legacy revision that was asked for, 2024-11-05 included', async () => {
    const headers = { 'x-api-key': 'ann', 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    for (const route of ['v1', 'v2']) {
      for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
        const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'c', version: '0' } };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
        const answer = await (await fetch(`${gateway.url}/${route}/mcp`, { method: 'POST', headers, body })).text();
        assert.equal(/"protocolVersion":"([^"]+)"/.exec(answer)?.[1], revision, route);
      }
    }
  });

  test('two callers at once, both eras: each sees only its own identity', async () => {
    const calls = Array.from({ length: 60 }, async (_, i) => {
      const key = i % 2 === 0 ? 'ann' : 'bob';
      const answer = await modern('/v2/mcp', key, 'whoami', {});
      return [key, /"text":"(\w+)"/.exec(await answer.text())?.[1]];
    });
    for (const [key, seen] of await Promise.all(calls)) assert.equal(seen, key);
  });

  test('a client pinned to 2026-07-28 uses a v2 server', async () => {
    const client = new Client({ name: 'c', version: '0' });
    const headers = { 'x-api-key': 'bob' };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/v2/mcp`), { requestInit: { headers } }));
    assert.equal(textOf(await client.callTool({ name: 'whoami', arguments: {} })), 'bob');
    await client.close();
  });

  test('a forged identity in _meta or a header is not believed', async () => {
    const answer = await fetch(`${gateway.url}/v1/mcp`, {
      method: 'POST',
      headers: {
        'x-api-key': 'ann',
        authorization: 'Bearer bob',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-portcullis-identity': 'bob',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'whoami', _meta: { authInfo: { extra: { principal: 'bob' } } } },
      }),
    });
    assert.match(await answer.text(), /"text":"ann"/);
  });

  test('a caller that leaves aborts the handler', async () => {
    const leave = new AbortController();
    const call = modern('/v2/mcp', 'ann', 'hang', { label: 'x1' }, leave.signal).catch(() => undefined);
    await until('the handler runs', () => hanging.includes('x1'));
    leave.abort();
    await call;
    await until('it was aborted', () => aborted.includes('x1'));
  });

  test('a GET stream is 405: nothing keeps a session', async () => {
    const answer = await fetch(`${gateway.url}/v2/mcp`, { headers: { 'x-api-key': 'ann', accept: 'text/event-stream' } });
    assert.equal(answer.status, 405);
  });

  test('what is neither ours nor a factory refuses to start, and says what to export', async () => {
    const broken = createGateway({
      listener: { port: 0 },
      ops: { enabled: false },
      runtimes: { x: { kind: 'hosted', module: moduleOf('neither') } },
      routes: [{ path: '/mcp', public: true, runtime: 'x' }],
    });
    await assert.rejects(broken.start(), /runtimes\.x\.module: its export "server" was not made by defineServer/);
  });
});
