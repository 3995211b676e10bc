// An SDK v2 server behind a route, used by clients of every era: what works direct works through the gateway, and a client that
// leaves, cancels, subscribes or is drained is noticed by the server's own handlers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { connect, MODERN, modernPost, TEMPLATE, useAll } from '../support/e2e/modern-client.js';
import { type ModernServer, startModernServer } from '../support/e2e/modern-server.js';
import { openV1Current, openV2, openV12 } from '../support/e2e/sdk-clients.js';
import { methodOf, startTap, type Tap } from '../support/e2e/tap.js';
import { until } from '../support/e2e/until.js';

const WATCHED = 'test://watched-resource';

let server: ModernServer;
let tap: Tap;
let gateway: RunningGateway;
let url: string;

const config = (upstream: string): string => `
listener: { host: 127.0.0.1, port: 0, limits: { sse_keepalive_ms: 100 } }
ops: { port: 0 }
runtimes: { modern: { kind: proxied, url: "${upstream}" } }
routes: [{ path: /mcp, public: true, runtime: modern }]
`;

before(async () => {
  server = await startModernServer();
  tap = await startTap(server.url);
  gateway = await startGateway(config(tap.url));
  url = `${gateway.url}/mcp`;
});

after(async () => {
  await gateway?.stop();
  await tap?.close();
  await server?.close();
});

describe('a client pinned to 2026-07-28', () => {
  it('gets the same from the server through the gateway as direct', { timeout: 30_000 }, async () => {
    const direct = await useAll(server.url);
    const through = await useAll(url);
    assert.deepEqual(through, direct);
    assert.equal(through.revision, MODERN);
    assert.deepEqual(through.progress, [0, 50, 100]);
    assert.equal(through.region, 'region= Süd\n');
    assert.equal(through.rounds, 'e2e caller likes blue');
    assert.equal(through.inputs, 'sampled e2e caller, 1 roots');
    assert.deepEqual(through.asked.slice(0, 2), ['What is your name?', 'What is your favourite colour?']);
    assert.deepEqual(through.structured, { double: 42 });
    assert.equal(through.large_length, 300_000);
    assert.equal(through.sent_length, 1_500_000);
    assert.deepEqual(through.logged, ['delivered only when the request asks for this level']);
    assert.deepEqual(
      through.failures.map(([what]) => what),
      ['unknown tool', 'unknown resource', 'unknown prompt', 'unknown method'],
    );
  });

  it('mirrored headers reach the server as the client wrote them', () => {
    const named = tap.seen.findLast(({ headers }) => headers['mcp-param-region'] !== undefined);
    assert.equal(named?.headers['mcp-param-region'], `=?base64?${Buffer.from(' Süd\n').toString('base64')}?=`);
    assert.deepEqual([named?.headers['mcp-method'], named?.headers['mcp-name']], ['tools/call', 'test_x_mcp_header']);
    const read = tap.seen.findLast((request) => methodOf(request) === 'resources/read' && request.body.includes('template'));
    assert.equal(read?.headers['mcp-name'], `=?base64?${Buffer.from(TEMPLATE).toString('base64')}?=`);
  });

  it('20 calls at once: each hears its own progress and gets its own answer', { timeout: 20_000 }, async () => {
    const { client } = await connect(url);
    const calls = Array.from({ length: 20 }, async () => {
      const progress: number[] = [];
      await client.callTool(
        { name: 'test_tool_with_progress', arguments: {} },
        { onprogress: (step) => void progress.push(step.progress) },
      );
      return progress;
    });
    assert.deepEqual(
      await Promise.all(calls),
      calls.map(() => [0, 50, 100]),
    );
    await client.close();
  });

  for (const talk of [false, true])
    it(`a call that is cancelled ${talk ? 'while it streams' : 'before the server said anything'} stops in the server`, {
      timeout: 15_000,
    }, async () => {
      for (const [where, address] of [
        ['direct', server.url],
        ['through', url],
      ] as const) {
        const label = `cancel ${where} ${talk}`;
        const { client } = await connect(address);
        const abort = new AbortController();
        let heard = false;
        const call = client.callTool(
          { name: 'hang', arguments: { label, talk } },
          { signal: abort.signal, onprogress: () => void (heard = true) },
        );
        const cancelled = assert.rejects(call, /enough/);
        await until(`${label} began`, () => hanging(label) !== undefined && (!talk || heard));
        assert.equal(hanging(label)?.aborted, false);
        abort.abort('enough');
        await cancelled;
        await until(`${label} noticed`, () => hanging(label)?.aborted);
        await client.close();
      }
      const upstream = tap.seen.findLast(({ body }) => body.includes(`cancel through ${talk}`));
      assert.equal(upstream?.aborted, true);
    });

  it('a client that dies takes its calls along', { timeout: 15_000 }, async () => {
    const abort = new AbortController();
    const call = fetch(url, { ...modernPost('tools/call', { name: 'hang', arguments: { label: 'dies' } }), signal: abort.signal });
    const died = assert.rejects(call);
    await until('the call began', () => hanging('dies') !== undefined);
    abort.abort();
    await died;
    await until('the call noticed', () => hanging('dies')?.aborted);
  });
});

describe('subscriptions/listen', () => {
  it('delivers what was asked for and nothing else, then closes at the client’s word', { timeout: 20_000 }, async () => {
    const seen: Record<string, unknown> = {};
    for (const [where, address] of [
      ['direct', server.url],
      ['through', url],
    ] as const) {
      const { client, notified } = await connect(address);
      const errors: string[] = [];
      client.onerror = (error) => void errors.push(error.message);
      const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [WATCHED] });
      server.notify.promptsChanged();
      server.notify.toolsChanged();
      server.notify.resourceUpdated('test://static-text');
      server.notify.resourceUpdated(WATCHED);
      await until('both notifications', () => notified.length === 2);
      assert.equal(server.listener_count, 1);
      await subscription.close();
      assert.equal(await subscription.closed, 'local');
      await until('the server to notice', () => server.listener_count === 0);
      await client.close();
      seen[where] = { notified, honoured: subscription.honoredFilter, errors };
    }
    assert.deepEqual(seen.through, seen.direct);
    assert.deepEqual(seen.through, {
      notified: ['notifications/tools/list_changed', `notifications/resources/updated ${WATCHED}`],
      honoured: { toolsListChanged: true, resourceSubscriptions: [WATCHED] },
      errors: [],
    });
  });

  it('the acknowledgement comes first; every message names the subscription; the server’s keep-alives stay behind', {
    timeout: 15_000,
  }, async () => {
    const abort = new AbortController();
    const post = modernPost('subscriptions/listen', { notifications: { toolsListChanged: true } }, '"raw"');
    const response = await fetch(url, { ...post, signal: abort.signal });
    assert.deepEqual(
      ['content-type', 'cache-control', 'x-accel-buffering', 'mcp-session-id'].map((name) => response.headers.get(name)),
      ['text/event-stream', 'no-cache, no-transform', 'no', null],
    );
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    await until('acknowledged', () => text.includes('acknowledged'));
    server.notify.toolsChanged();
    await until('notified and kept alive', () => text.includes('list_changed') && (text.match(/^:/gm)?.length ?? 0) >= 3);
    abort.abort();
    await reading;
    const messages = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    assert.deepEqual(
      messages.map(({ method, params }) => [method, params._meta['io.modelcontextprotocol/subscriptionId']]),
      [
        ['notifications/subscriptions/acknowledged', 'raw'],
        ['notifications/tools/list_changed', 'raw'],
      ],
    );
    // Comments are the gateway's own, at its own pace: the server's say "keepalive".
    assert.deepEqual([...new Set(text.match(/^:.*$/gm))], [':']);
    await until('the server to notice', () => server.listener_count === 0);
  });

  it('ends gracefully when the server goes away in good order', { timeout: 15_000 }, async () => {
    for (const where of ['direct', 'through']) {
      const closing = await startModernServer();
      const front = where === 'through' ? await startGateway(config(closing.url)) : undefined;
      try {
        const { client } = await connect(front === undefined ? closing.url : `${front.url}/mcp`);
        const subscription = await client.listen({ toolsListChanged: true });
        await closing.finish();
        assert.equal(await subscription.closed, 'graceful', where);
        await client.close();
      } finally {
        await front?.stop();
        await closing.close();
      }
    }
  });
});

describe('clients of other eras on the same route', () => {
  const NOT_PINNED = [
    ['SDK 1.12', openV12, undefined],
    ['SDK 1 current', openV1Current, '2025-11-25'],
    ['SDK 2 legacy', openV2('legacy'), '2025-11-25'],
    ['SDK 2 auto', openV2('auto'), MODERN],
  ] as const;
  for (const [name, open, revision] of NOT_PINNED)
    it(`${name} speaks ${revision ?? 'its own revision'}`, { timeout: 15_000 }, async () => {
      const facts = [];
      for (const address of [server.url, url]) {
        const client = await open(address);
        const progress: number[] = [];
        await client.call('test_tool_with_progress', {}, { onprogress: (step) => void progress.push(step.progress) });
        facts.push({
          revision: client.revision,
          session: client.session,
          tools: await client.tools(),
          progress,
          text: await client.call('test_simple_text'),
        });
        await client.close();
      }
      assert.deepEqual(facts[1], facts[0]);
      assert.deepEqual([facts[1]?.revision, facts[1]?.session, facts[1]?.progress], [revision, undefined, [0, 50, 100]]);
    });
});

describe('drain', () => {
  it('completes subscriptions, lets a call finish and exits with 0', { timeout: 20_000 }, async () => {
    const { client } = await connect(url);
    const subscription = await client.listen({ toolsListChanged: true });
    const call = client.callTool({ name: 'hang', arguments: { label: 'drained', for_ms: 700 } });
    await until('both at the server', () => server.listener_count === 1 && hanging('drained') !== undefined);
    const stopped = gateway.stop();
    assert.equal(await subscription.closed, 'graceful');
    assert.deepEqual((await call).content, [{ type: 'text', text: 'done' }]);
    assert.equal(await stopped, 0);
    await until('the server to notice', () => server.listener_count === 0);
    assert.match(gateway.output, /"killed":0,"message":"drain done"/);
    await client.close();
  });

  it('nothing was refused or broken on the way', () => {
    const lines = gateway.output.split('\n').filter((line) => line.includes('"level":"warn"') || line.includes('"level":"error"'));
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ code, reason, message }) => [code, reason, message]),
      [],
    );
  });
});

const hanging = (label: string) => server.hanging.find((entry) => entry.label === label);
