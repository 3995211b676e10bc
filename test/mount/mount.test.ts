import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { fastify } from 'fastify';
import { fastifyMount } from '../../src/mount/fastify.js';
import { createNodeMount } from '../../src/mount/node.js';
import type { MountOptions } from '../../src/mount/options.js';
import { createExecutor, systemClock } from '../../src/server.js';
import { modernBody, modernHead } from '../demo/rpc.js';
import { noticed, server } from '../support/doors-server.js';
import { HOSTS, type Mounted } from '../support/mounted.js';

type Json = ReturnType<typeof JSON.parse>;

const INFO = { name: 'mount-test', version: '1' };
const PLAIN = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const LISTEN = modernBody('subscriptions/listen', { notifications: { toolsListChanged: true } });

async function within(host: string, options: MountOptions, run: (mounted: Mounted) => Promise<void>): Promise<void> {
  const mounted = await HOSTS[host]!(options);
  try {
    await run(mounted);
  } finally {
    await mounted.close();
  }
}
const ask = (mounted: Mounted, body: string, headers: Record<string, string>, more: RequestInit = {}) =>
  (mounted.fetch ?? fetch)(mounted.url, { method: 'POST', body, headers, ...more });
const say = (mounted: Mounted, headers: Record<string, string> = {}) =>
  ask(mounted, modernBody('tools/call', { name: 'say', arguments: { text: 'hi' } }), { ...modernHead('tools/call', 'say'), ...headers });
const hang = (mounted: Mounted, more: RequestInit = {}, headers: Record<string, string> = {}) =>
  ask(mounted, modernBody('tools/call', { name: 'hang', arguments: {} }, {}, 5), { ...modernHead('tools/call', 'hang'), ...headers }, more);
const codeOf = async (response: Response) => [response.status, ((await response.json()) as Json).error.data.code];
async function until(ready: () => boolean): Promise<void> {
  for (let n = 0; n < 400 && !ready(); n++) await wait(10);
  assert.ok(ready());
}
/** Sends bytes and reads until the other side ends. */
const raw = (port: number, text: string) =>
  new Promise<string>((resolve) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => (got += chunk.toString())).on('close', () => resolve(got));
  });

for (const host of Object.keys(HOSTS))
  describe(`mount in ${host}`, () => {
    it('is used by official clients of both eras, identity being the host’s', () =>
      within(host, {}, async ({ url, fetch: own }) => {
        const options = { requestInit: { headers: { authorization: 'Bearer ann' } }, ...(own === undefined ? {} : { fetch: own }) };
        const v1 = new ClientV1(INFO);
        await v1.connect(new TransportV1(new URL(url), options as object) as never);
        const v2 = new ClientV2(INFO, { versionNegotiation: { mode: 'auto' } });
        await v2.connect(new TransportV2(new URL(url), options as object));
        assert.equal(v2.getNegotiatedProtocolVersion(), '2026-07-28');
        for (const client of [v1, v2]) {
          const result: Json = await client.callTool({ name: 'say', arguments: { text: 'hello' } });
          assert.equal(result.content[0].text, 'hello ann');
          const seen: number[] = [];
          const onprogress = ({ progress }: { progress: number }) => void seen.push(progress);
          const counted = { name: 'count', arguments: {} };
          await (client === v1 ? v1.callTool(counted, undefined, { onprogress }) : v2.callTool(counted, { onprogress }));
          assert.deepEqual(seen, [1, 2, 3]);
          await client.close();
        }
      }));

    it('answers initialize with the legacy revision that was asked for, 2024-11-05 included, and serves it with and without its header', () =>
      within(host, {}, async (mounted) => {
        const send = async (method: string, params: object, headers: Record<string, string> = {}): Promise<Json> => {
          const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
          return (await ask(mounted, body, { ...PLAIN, ...headers })).json();
        };
        for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
          const hello = { protocolVersion: revision, capabilities: {}, clientInfo: INFO };
          assert.equal((await send('initialize', hello)).result.protocolVersion, revision);
          for (const headers of [{}, { 'mcp-protocol-version': revision }]) {
            const called = await send('tools/call', { name: 'say', arguments: { text: 'hi' } }, headers);
            assert.equal(called.result.content[0].text, 'hi nobody', revision);
          }
        }
      }));

    it('gives a legacy client a session id, also with an answer by event', () =>
      within(host, {}, async (mounted) => {
        const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
        for (const accept of ['application/json, text/event-stream', 'text/event-stream']) {
          const answer = await ask(mounted, body, { ...PLAIN, accept });
          assert.match(answer.headers.get('mcp-session-id') ?? '', /^[\x21-\x7e]{1,320}$/, accept);
          assert.match(await answer.text(), /"protocolVersion":"2025-11-25"/);
        }
      }));

    it('takes no identity from a header, and refuses foreign origins, other methods and large bodies', () =>
      within(host, { max_body_bytes: 400 }, async (mounted) => {
        const answer = (await (await say(mounted, { 'x-mcp-auth': 'root', mcpauth: 'root' })).json()) as Json;
        assert.equal(answer.result.content[0].text, 'hi nobody');
        assert.deepEqual(await codeOf(await say(mounted, { origin: 'https://evil.example' })), [403, 'ORIGIN_NOT_ALLOWED']);
        assert.equal((await say(mounted, { origin: 'http://localhost:3000' })).status, 200);
        const got = await (mounted.fetch ?? fetch)(mounted.url);
        assert.deepEqual([await codeOf(got), got.headers.get('allow')], [[405, 'METHOD_NOT_ALLOWED'], 'POST']);
        assert.deepEqual(await codeOf(await ask(mounted, 'x'.repeat(401), modernHead('ping'))), [413, 'BODY_TOO_LARGE']);
      }));

    it('takes a body without a declared length, counted, unless such bodies are refused', async () => {
      const streamed = (mounted: Mounted, text: string) =>
        ask(mounted, new Blob([text]).stream() as never, modernHead('tools/call', 'say'), { duplex: 'half' } as object);
      const call = modernBody('tools/call', { name: 'say', arguments: { text: 'hi' } });
      await within(host, { max_body_bytes: 1000 }, async (mounted) => {
        const answer = (await (await streamed(mounted, call)).json()) as Json;
        assert.equal(answer.result.content[0].text, 'hi nobody');
        assert.deepEqual(await codeOf(await streamed(mounted, call + ' '.repeat(1000))), [413, 'BODY_TOO_LARGE']);
      });
      await within(host, { chunked_requests: 'refuse' }, async (mounted) =>
        assert.deepEqual(await codeOf(await streamed(mounted, call)), [411, 'LENGTH_REQUIRED']),
      );
    });

    it('gives a refusal the id where the body was read, and with a declared 413 to a known caller', () =>
      within(host, { max_body_bytes: 100_000, body_timeout_ms: 200 }, async (mounted) => {
        const refused = async (body: string, headers: Record<string, string>, more: RequestInit = {}) => {
          const response = await ask(mounted, body, headers, more);
          const text = await response.text();
          assert.doesNotMatch(text, /"id":null/);
          return [response.status, (JSON.parse(text) as Json).id];
        };
        const large = modernBody('tools/call', { name: 'say', arguments: { text: 'x'.repeat(100_000) } }, {}, 'big');
        const head = modernHead('tools/call', 'say');
        const known = { ...head, authorization: 'Bearer ann' };
        assert.deepEqual(await refused(large, known), [413, 'big']);
        assert.deepEqual(await refused(large, head), [413, undefined], 'nobody is known');
        const late = `{"jsonrpc":"2.0","method":"tools/call","params":{"x":"${'x'.repeat(100_000)}"},"id":1}`;
        assert.deepEqual(await refused(late, known), [413, undefined], 'the id is behind 64 KiB');
        const small = modernBody('tools/call', { name: 'say', arguments: { text: 'x' } }, {}, 5);
        assert.deepEqual(await refused(small, { ...head, 'content-type': 'text/plain' }), [415, 5]);
        assert.deepEqual(await refused(small, { ...head, accept: 'text/html' }), [406, 5]);
        assert.deepEqual(await refused(small, { ...head, 'mcp-name': 'other' }), [400, 5]);
        assert.deepEqual(await refused(small, { ...head, origin: 'https://evil.example' }), [403, undefined]);
        assert.deepEqual(await refused(small.replace('tools/call', 'none'), { ...head, 'mcp-method': 'none' }), [404, 5]);
      }));

    it('cancels a call whose client leaves, and one that its own client instance cancels', () =>
      within(host, {}, async (mounted) => {
        noticed.length = 0;
        const stop = new AbortController();
        const hanging = hang(mounted, { signal: stop.signal }).catch(() => undefined);
        await until(() => noticed.length === 1);
        stop.abort();
        await until(() => noticed.length === 2);
        await hanging;
        const mine = hang(mounted, {}, { authorization: 'Bearer ann' });
        await until(() => noticed.length === 3);
        const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
        const head = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        assert.equal((await ask(mounted, body, head)).status, 202);
        assert.equal((await ask(mounted, body, { ...head, authorization: 'Bearer bob' })).status, 202);
        assert.deepEqual(noticed.slice(2), ['began']);
        assert.equal((await ask(mounted, body, { ...head, authorization: 'Bearer ann' })).status, 202);
        assert.equal((await mine).status, 202);
        assert.deepEqual(noticed.slice(2), ['began', 'aborted']);
      }));

    it('is late at the deadline', () =>
      within(host, { request_timeout_ms: 50 }, async (mounted) => assert.deepEqual(await codeOf(await hang(mounted)), [504, 'DEADLINE'])));

    it('keeps streams alive, caps them by executor, and completes them when it closes', async () => {
      const executor = createExecutor({ clock: systemClock });
      const mounted = await HOSTS[host]!({ executor, max_subscriptions: 1, sse_keepalive_ms: 20 });
      const other = await HOSTS[host]!({ executor, max_subscriptions: 1 });
      const listening = await ask(mounted, LISTEN, modernHead('subscriptions/listen'));
      assert.equal(listening.headers.get('content-type'), 'text/event-stream');
      const reader = listening.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('\n\n:\n\n')) text += (await reader.read()).value;
      assert.deepEqual(await codeOf(await ask(other, LISTEN, modernHead('subscriptions/listen'))), [503, 'TOO_MANY_STREAMS']);
      const closing = mounted.close();
      for (let got = await reader.read(); !got.done; got = await reader.read()) text += got.value;
      await closing;
      const last = JSON.parse(text.trimEnd().split('data: ').at(-1)!.split('\n')[0]!);
      assert.deepEqual([last.id, last.result.resultType], [1, 'complete']);
      const again = await ask(other, LISTEN, modernHead('subscriptions/listen'));
      assert.equal(again.status, 200);
      await again.body!.cancel();
      await other.close();
      await executor.drain(0);
    });
  });

for (const host of ['node', 'fastify'])
  describe(`mount in ${host}, on the wire`, () => {
    const head = (port: number, more: string) =>
      `POST ${host === 'node' ? '/mcp' : '/api/mcp'} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;

    it('refuses every other Transfer-Encoding, and tiny chunks', () =>
      within(host, {}, async ({ port }) => {
        for (const more of ['Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'])
          assert.match(await raw(port, `${head(port, more)}0\r\n\r\n`), /^HTTP\/1\.1 4(?:00|11) /);
        const old = head(port, 'Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0');
        assert.match(await raw(port, `${old}0\r\n\r\n`), /^HTTP\/1\.1 411 /);
        const tiny = await raw(port, `${head(port, 'Transfer-Encoding: chunked')}${'1\r\n \r\n'.repeat(100_000)}0\r\n\r\n`);
        assert.match(tiny, /^HTTP\/1\.1 400 [\s\S]*"CHUNKS_TOO_SMALL"/);
      }));

    it('refuses chunks unread when it is to, and a body that is late', () =>
      within(host, { chunked_requests: 'refuse', read_timeout_ms: 60 }, async ({ port }) => {
        const [chunked, late] = await Promise.all([
          raw(port, head(port, 'Transfer-Encoding: chunked')),
          raw(port, `${head(port, 'Content-Length: 10')}{`),
        ]);
        assert.match(chunked, /^HTTP\/1\.1 411 .*\r\n(?:.*\r\n)*connection: close\r\n/i);
        assert.match(late, /^HTTP\/1\.1 408 .*\r\n(?:.*\r\n)*connection: close\r\n/i);
      }));
  });

describe('mounts', () => {
  it('leave the parsers of a Fastify app alone, and keep to their prefix', async () => {
    const app = fastify();
    app.post('/echo', async (request) => request.body);
    await app.register(fastifyMount, { server, path: '/mcp' });
    const echoed = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } });
    assert.deepEqual(echoed.json(), { a: 1 });
    await app.close();
    const other = fastify();
    other.register(fastifyMount, { prefix: '/api', server, path: '/mcp' });
    await assert.rejects(async () => other.ready(), /path "\/mcp" is not under the prefix "\/api"/);
  });

  it('fail closed: an mcpAuth that names nobody, a body that was read, a limit that is none', async () => {
    assert.throws(() => createNodeMount(server, { body_timeout_ms: 0 }), /mount: body_timeout_ms must be a positive integer, not 0/);
    const { createFetchMount } = await import('../../src/mount/fetch.js');
    const mount = createFetchMount(server);
    const body = modernBody('tools/list');
    const make = () =>
      new Request('http://127.0.0.1/', {
        method: 'POST',
        body,
        headers: { ...modernHead('tools/list'), 'content-length': String(body.length) },
      });
    for (const principal of ['', 7, undefined])
      assert.deepEqual(await codeOf(await mount(make(), { mcpAuth: { principal } as never })), [500, 'RUNTIME_FAILED']);
    const read = make();
    await read.text();
    assert.deepEqual(await codeOf(await mount(read)), [500, 'RUNTIME_FAILED']);
    assert.equal((await mount(make())).status, 200);
    await mount.close();
    assert.deepEqual(await codeOf(await mount(make())), [503, 'DRAINING']);
  });
});
