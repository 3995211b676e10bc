import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Change, type ChangeSource, createHub, type Published } from '../../../src/server.js';
import { hosting, type Json, messages } from '../../support/hosted.js';

const ALL: Published = { tools: true, prompts: true, resources: true, updates: true };
const PARTS = {
  tools: [{ name: 't', run: () => '' }],
  resources: [1, 2, 3].map((n) => ({ uri: `x:${n}`, name: 'r', read: () => '', ...(n === 3 ? { scopes: ['admin'] } : {}) })),
  templates: [{ uriTemplate: 'y:{id}', name: 'y', read: () => '' }],
};
const TAG = { 'io.modelcontextprotocol/subscriptionId': 7 };
const COMPLETE = {
  jsonrpc: '2.0',
  id: 7,
  result: { resultType: 'complete', _meta: { ...TAG, 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } } },
};
const ack = (notifications: object): Json => ({
  jsonrpc: '2.0',
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications, _meta: TAG },
});

/** A source that hands out what it is given, one for each pull, and remembers how it was treated. */
function scripted(changes: readonly Change[], then: 'end' | 'wait' | 'throw' = 'wait') {
  const seen = { pulled: 0, opened: 0, returned: 0, reasons: [] as unknown[] };
  const source: ChangeSource = {
    publishes: ALL,
    open(_wanted, { signal }) {
      seen.opened += 1;
      signal.addEventListener('abort', () => seen.reasons.push(signal.reason));
      let at = 0;
      return {
        [Symbol.asyncIterator]: () => ({
          next() {
            seen.pulled += 1;
            const value = changes[at++];
            if (value !== undefined) return Promise.resolve({ done: false, value });
            if (then === 'throw') return Promise.reject(new Error('the database is gone'));
            return then === 'end' ? Promise.resolve({ done: true, value: undefined }) : new Promise(() => undefined);
          },
          return() {
            seen.returned += 1;
            return Promise.resolve({ done: true, value: undefined });
          },
        }),
      };
    },
  };
  return { source, seen };
}

const listen = (host: ReturnType<typeof hosting>, notifications: unknown, exchange = {}) =>
  host.send('subscriptions/listen', { notifications }, { id: '7', exchange });

describe('hosted subscriptions', () => {
  it('acknowledge first, and only what will come', async () => {
    const hub = createHub({ tools: true, updates: true });
    const host = hosting({ ...PARTS, changes: hub });
    const exchange = listen(host, {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['x:1', 'x:3', 'x:9', 'y:ab', 'y:a/b', 'x:1'],
    });
    hub.toolsChanged();
    hub.resourceUpdated('x:3');
    hub.resourceUpdated('y:ab');
    await exchange.wrote(3);
    assert.deepEqual(messages(exchange), [
      ack({ toolsListChanged: true, resourceSubscriptions: ['x:1', 'y:ab'] }),
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: TAG } },
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'y:ab', _meta: TAG } },
    ]);
    exchange.cancel('client');
    assert.equal(hub.subscribers, 0);
    await host.close();
  });

  it('tell the capabilities what can change', async () => {
    const host = hosting({ ...PARTS, changes: createHub({ tools: true, updates: true }) });
    const { body } = await host.ask('server/discover');
    assert.deepEqual(body.result.capabilities, { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} });
    assert.deepEqual(body.result.supportedVersions, ['2026-07-28']);
    await host.close();
  });

  it('complete at once what nothing will come of, and open no source', async () => {
    const { source, seen } = scripted([]);
    for (const [definition, filter] of [
      [{ ...PARTS }, { toolsListChanged: true }],
      [{ ...PARTS, changes: source }, {}],
      [
        { ...PARTS, changes: source },
        { toolsListChanged: false, promptsListChanged: true, resourceSubscriptions: ['x:3', 'z:1'] },
      ],
    ] as const) {
      const host = hosting(definition);
      const exchange = listen(host, filter);
      const answer = await exchange.done;
      assert.deepEqual(messages(exchange), [ack({}), COMPLETE]);
      assert.deepEqual([answer.by, answer.reason, answer.outcome], ['events', 'source', 'ok']);
      await host.close();
    }
    assert.equal(seen.opened, 0);
  });

  it('refuse a filter that is none, and take 1 000 URIs but not 1 001', async () => {
    const host = hosting({ ...PARTS, changes: createHub() });
    const uris = (count: number) => Array.from({ length: count }, (_, n) => `y:${n}`);
    for (const filter of [
      undefined,
      7,
      [],
      { toolsListChanged: 1 },
      { resourceSubscriptions: 'x:1' },
      { resourceSubscriptions: [1] },
      { resourceSubscriptions: uris(1001) },
    ]) {
      const answer = await listen(host, filter).done;
      assert.deepEqual([answer.by, answer.status, answer.rpc_code], ['respond', 400, -32602], JSON.stringify(filter)?.slice(0, 60));
    }
    const most = listen(host, { resourceSubscriptions: uris(1000) });
    assert.equal(messages(most)[0].params.notifications.resourceSubscriptions.length, 1000);
    most.cancel('client');
    const json_only = await listen(host, {}, { accepts_events: false }).done;
    assert.equal(json_only.error?.code, 'NOT_ACCEPTABLE');
    assert.equal((await listen(host, {}, { refuse_events: true }).done).status, 503);
    await host.close();
  });

  it('pull event 2 only after event 1 was written, and none while the reader is slow', async () => {
    const { source, seen } = scripted(Array.from({ length: 50 }, () => ({ kind: 'tools' as const })));
    const host = hosting({ ...PARTS, changes: source });
    const exchange = listen(host, { toolsListChanged: true }, { high_water_bytes: 300 });
    exchange.hold();
    for (let i = 0; i < 20; i++) await turn();
    const written = messages(exchange).length - 1;
    assert.ok(written >= 1 && written <= 4, `${written}`);
    assert.equal(seen.pulled, written);
    assert.ok(exchange.peak_bytes < 600, `${exchange.peak_bytes}`);
    exchange.flow();
    await exchange.wrote(51);
    assert.equal(messages(exchange).length, 51);
    exchange.cancel('client');
    await host.close();
  });

  it('end once with the reason: the source’s end completes, the reader’s and the drain’s close the source', async () => {
    const ended = scripted([{ kind: 'tools' }, { kind: 'prompts' }, { kind: 'resource', uri: 'x:2' }], 'end');
    let host = hosting({ ...PARTS, changes: ended.source });
    let exchange = listen(host, { toolsListChanged: true });
    const answer = await exchange.done;
    assert.deepEqual([answer.reason, answer.outcome], ['source', 'ok']);
    assert.deepEqual(messages(exchange).slice(2), [COMPLETE]);
    assert.deepEqual([ended.seen.reasons, ended.seen.returned], [[], 0]);
    exchange.cancel('client');
    await host.close();

    for (const reason of ['client', 'drain', 'slow_consumer', 'identity_expired'] as const) {
      const open = scripted([]);
      host = hosting({ ...PARTS, changes: open.source });
      exchange = listen(host, { toolsListChanged: true });
      await turn();
      exchange.cancel(reason);
      exchange.cancel('client');
      await turn();
      assert.deepEqual([open.seen.reasons, open.seen.returned], [[reason], 1]);
      assert.equal(messages(exchange).length, 1);
      await host.close();
    }
  });

  it('end with an error when the source fails, and tell only the log why', async () => {
    const { source } = scripted([], 'throw');
    const host = hosting({ ...PARTS, changes: source });
    const exchange = listen(host, { toolsListChanged: true });
    const answer = await exchange.done;
    assert.deepEqual([answer.reason, answer.outcome, answer.rpc_code], ['error', 'rpc_error', -32603]);
    assert.ok(!exchange.writes.join('').includes('database'));
    assert.ok(JSON.stringify(host.log.lines).includes('database'));
    await host.close();
  });
});
