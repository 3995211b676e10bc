// A server hosted in the gateway, used by the official clients of every era, direct and through a second gateway; what a client
// does is noticed by the handlers. All of it runs in this process.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createGateway, type Gateway } from '../../src/index.js';
import { everything, GREETING, WATCHED } from '../support/e2e/client-tour.js';
import { hanging, hub } from '../support/e2e/hosted-server.js';
import { connect, MODERN, modernPost, useAll } from '../support/e2e/modern-client.js';
import { PAGED } from '../support/e2e/paged-server.js';
import { openV1Current, openV2, openV12 } from '../support/e2e/sdk-clients.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';

const TEMPLATE = { type: 'ref/resource', uri: 'test://template/{id}/data' } as const;

let hosting: Gateway;
let front: Gateway;
let ways: readonly (readonly [way: string, url: string])[];
let paged_ways: readonly string[];

before(async () => {
  const module = (name: string) => repositoryPath(`dist/test/support/e2e/${name}.js`);
  hosting = await start({
    runtimes: {
      server: { kind: 'hosted', module: module('hosted-server') },
      paged: { kind: 'hosted', module: module('paged-server') },
    },
    routes: [
      { path: '/mcp', public: true, runtime: 'server' },
      { path: '/paged', public: true, runtime: 'paged' },
    ],
  });
  front = await start({
    runtimes: {
      server: { kind: 'proxied', url: `${hosting.url}/mcp` },
      paged: { kind: 'proxied', url: `${hosting.url}/paged` },
    },
    routes: [
      { path: '/mcp', public: true, runtime: 'server' },
      { path: '/paged', public: true, runtime: 'paged' },
    ],
  });
  ways = [
    ['hosted', `${hosting.url}/mcp`],
    ['through a second gateway', `${front.url}/mcp`],
  ];
  paged_ways = [`${hosting.url}/paged`, `${front.url}/paged`];
});

after(async () => {
  await front?.close();
  await hosting?.close();
});

describe('a client pinned to 2026-07-28', () => {
  it('uses everything', { timeout: 30_000 }, async () => {
    const used = [];
    for (const [, url] of ways) {
      const { failures, ...rest } = await useAll(url, 'test://template/Gr%C3%B6%C3%9Fe%20%E6%97%A5%E6%9C%AC/data');
      used.push({ ...rest, failures: failures.map(([what, said]) => [what, ...toldBy(said as readonly unknown[])]) });
    }
    assert.deepEqual(used[1], used[0]);
    const [all] = used;
    assert.equal(all?.revision, MODERN);
    assert.deepEqual(all.server, { name: 'conformance-fixture', version: '1.0.0' });
    assert.deepEqual(all.capabilities, {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      extensions: { 'io.modelcontextprotocol/tasks': {} },
      logging: {},
    });
    assert.deepEqual(all.progress, [0, 50, 100]);
    assert.equal(all.region, 'region= Süd\n');
    assert.equal(all.rounds, 'e2e caller likes blue');
    assert.equal(all.inputs, 'sampled e2e caller, 1 roots');
    assert.deepEqual(all.structured, { double: 42 });
    assert.equal(all.large_length, 300_000);
    assert.equal(all.sent_length, 1_500_000);
    assert.deepEqual(all.logged, ['delivered only when the request asks for this level']);
    assert.deepEqual(
      all.read.contents.map((content) => ('text' in content ? JSON.parse(content.text).id : undefined)),
      ['Größe 日本'],
    );
    assert.equal(all.error.isError, true);
    assert.deepEqual(all.failures, [
      ['unknown tool', -32602, 'COMPONENT_NOT_FOUND'],
      ['unknown resource', -32602, { uri: 'test://none' }],
      ['unknown prompt', -32602, 'COMPONENT_NOT_FOUND'],
      // The client takes the 404 that the revision asks for as a failure of HTTP.
      ['unknown method', 'CLIENT_HTTP_NOT_IMPLEMENTED', 404],
    ]);
  });

  it('hears log messages at the level it asks for, and none otherwise', { timeout: 15_000 }, async () => {
    for (const [way, url] of ways) {
      const { client, logged } = await connect(url);
      const counts = [];
      for (const level of ['info', 'warning', undefined]) {
        const before_call = logged.length;
        const _meta = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level };
        await client.callTool({ name: 'test_tool_with_logging', arguments: {}, _meta });
        counts.push(logged.length - before_call);
      }
      assert.deepEqual(counts, [3, 0, 0], way);
      await client.close();
    }
  });

  it('20 calls at once: each hears its own progress and gets its own answer', { timeout: 20_000 }, async () => {
    for (const [, url] of ways) {
      const { client } = await connect(url);
      const calls = Array.from({ length: 20 }, async (_, n) => {
        const progress: number[] = [];
        const onprogress = (step: { readonly progress: number }) => void progress.push(step.progress);
        const quick = client.callTool({ name: 'double', arguments: { a: n } });
        await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, { onprogress });
        return { progress, double: (await quick).structuredContent };
      });
      assert.deepEqual(
        await Promise.all(calls),
        calls.map((_, n) => ({ progress: [0, 50, 100], double: { double: 2 * n } })),
      );
      await client.close();
    }
  });

  for (const talk of [false, true])
    it(`a call that is cancelled ${talk ? 'while it streams' : 'before the handler said anything'} stops the handler`, {
      timeout: 15_000,
    }, async () => {
      for (const [way, url] of ways) {
        const label = `cancel ${way} ${talk}`;
        const { client } = await connect(url);
        const abort = new AbortController();
        let heard = false;
        const call = client.callTool(
          { name: 'hang', arguments: { label, talk } },
          { signal: abort.signal, onprogress: () => void (heard = true) },
        );
        const cancelled = assert.rejects(call, /enough/);
        await until(`${label} began`, () => hangingCall(label) !== undefined && (!talk || heard));
        assert.equal(hangingCall(label)?.aborted, false);
        abort.abort('enough');
        await cancelled;
        await until(`${label} noticed`, () => hangingCall(label)?.aborted);
        await client.close();
      }
    });

  it('a client that dies takes its calls along', { timeout: 15_000 }, async () => {
    for (const [way, url] of ways) {
      const abort = new AbortController();
      const call = fetch(url, { ...modernPost('tools/call', { name: 'hang', arguments: { label: way } }), signal: abort.signal });
      const died = assert.rejects(call);
      await until('the call began', () => hangingCall(way) !== undefined);
      abort.abort();
      await died;
      await until('the call noticed', () => hangingCall(way)?.aborted);
    }
  });

  it('completes arguments of prompts and variables of templates', { timeout: 15_000 }, async () => {
    for (const [way, url] of ways) {
      const client = await openV2({ pin: MODERN })(url);
      assert.deepEqual(await client.complete(GREETING, 'arg1', 'par'), ['paris', 'park', 'party'], way);
      assert.deepEqual(await client.complete(TEMPLATE, 'id', '4'), ['41', '42'], way);
      assert.deepEqual(await client.complete(GREETING, 'arg2', 'par'), [], way);
      await client.close();
    }
  });
});

describe('subscriptions/listen', () => {
  it('delivers what was asked for and nothing else, then closes at the client’s word', { timeout: 20_000 }, async () => {
    for (const [way, url] of ways) {
      const { client, notified } = await connect(url);
      const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [WATCHED, 'test://none'] });
      assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true, resourceSubscriptions: [WATCHED] });
      await until('the source to be opened', () => hub.subscribers === 1);
      hub.promptsChanged();
      hub.resourceUpdated('test://static-text');
      hub.toolsChanged();
      hub.resourceUpdated(WATCHED);
      await until('both notifications', () => notified.length === 2);
      assert.deepEqual(notified, ['notifications/tools/list_changed', `notifications/resources/updated ${WATCHED}`], way);
      await subscription.close();
      assert.equal(await subscription.closed, 'local');
      await until('the source to be closed', () => hub.subscribers === 0);
      await client.close();
    }
  });

  it('several of one client are told apart, and one call tells all', { timeout: 20_000 }, async () => {
    for (const [, url] of ways) {
      const { client, notified } = await connect(url);
      const tools = await client.listen({ toolsListChanged: true });
      const prompts = await client.listen({ promptsListChanged: true });
      await until('both sources to be opened', () => hub.subscribers === 2);
      await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
      await client.callTool({ name: 'test_trigger_prompt_change', arguments: {} });
      await until('both notifications', () => notified.length === 2);
      assert.deepEqual([...notified].sort(), ['notifications/prompts/list_changed', 'notifications/tools/list_changed']);
      await tools.close();
      await until('one source to be closed', () => hub.subscribers === 1);
      await prompts.close();
      await until('the other to be closed', () => hub.subscribers === 0);
      await client.close();
    }
  });
});

describe('clients of other eras', () => {
  const ERAS = [
    ['SDK 1.12', openV12, undefined, ['sampling/createMessage']],
    ['SDK 1 current', openV1Current, '2025-11-25', ['sampling/createMessage', 'elicitation/create']],
    ['SDK 2 legacy', openV2('legacy'), '2025-11-25', ['sampling/createMessage', 'elicitation/create']],
    ['SDK 2 auto', openV2('auto'), MODERN, ['sampling/createMessage', 'elicitation/create']],
  ] as const;
  for (const [name, open, revision, questions] of ERAS)
    it(`${name} uses everything it knows, ${revision === MODERN ? 'without' : 'with'} a session`, { timeout: 30_000 }, async () => {
      const facts = [];
      for (const [, url] of ways) {
        const client = await open(url);
        const { session, ...fact } = await everything(client, questions.length > 1, revision === MODERN);
        assert.equal(session !== undefined, revision !== MODERN);
        facts.push(fact);
        await client.close();
      }
      assert.deepEqual(facts[1], facts[0]);
      const [fact] = facts;
      assert.deepEqual([fact?.revision, fact?.asked], [revision, questions]);
      assert.deepEqual(fact?.progress, [0, 50, 100]);
      const streamed = ['Tool with progress executed successfully', 0, 50, 100];
      assert.deepEqual(fact?.together, [streamed, streamed, streamed]);
      assert.equal(fact?.text, 'This is a simple text response for testing.');
      assert.equal(fact?.read, 'Watched resource content');
      assert.equal(fact?.templated, '{"id":"7","templateTest":true,"data":"Data for ID: 7"}');
      assert.equal(fact?.prompt, "Prompt with arguments: arg1='a', arg2='b'");
      assert.deepEqual(fact?.completed, ['paris', 'park', 'party']);
      assert.equal(fact?.sampled, 'LLM response: sampled text');
      assert.equal(fact?.logged, revision === MODERN ? 0 : 3);
      assert.equal(fact?.tools.length, 37);
      assert.equal(fact?.prompts.length, 5);
      assert.deepEqual(fact?.resources, ['test://static-text', WATCHED, 'test://static-binary']);
    });

  it('every client walks through the pages of a list', { timeout: 20_000 }, async () => {
    for (const url of paged_ways) {
      for (const open of [openV12, openV1Current, openV2('legacy'), openV2('auto')]) {
        const client = await open(url);
        const seen: string[] = [];
        let next: string | undefined;
        do {
          const page = await client.toolPage(next);
          seen.push(...page.names);
          next = page.next;
        } while (next !== undefined);
        assert.deepEqual(seen, PAGED);
        await client.close();
      }
    }
  });
});

describe('drain', () => {
  it('completes subscriptions and lets a call finish', { timeout: 20_000 }, async () => {
    const { client } = await connect(`${hosting.url}/mcp`);
    const subscription = await client.listen({ toolsListChanged: true });
    const call = client.callTool({ name: 'hang', arguments: { label: 'drained', for_ms: 700 } });
    await until('both began', () => hub.subscribers === 1 && hangingCall('drained') !== undefined);
    const drained = hosting.drain();
    assert.equal(await subscription.closed, 'graceful');
    assert.deepEqual((await call).content, [{ type: 'text', text: 'done' }]);
    assert.equal((await drained).killed, 0);
    assert.equal(hub.subscribers, 0);
    await client.close();
  });
});

async function start(config: object): Promise<Gateway> {
  const limits = { sse_keepalive_ms: 100 };
  const gateway = createGateway({ listener: { host: '127.0.0.1', port: 0, limits }, ops: { port: 0 }, ...config });
  await gateway.start();
  return gateway;
}

/** Code of an error, and what its data says. */
function toldBy([, code, , data]: readonly unknown[]): readonly unknown[] {
  const { code: named, status } = (data ?? {}) as { readonly code?: unknown; readonly status?: unknown };
  return [code, named ?? status ?? data];
}

function hangingCall(label: string) {
  return hanging.find((entry) => entry.label === label);
}
