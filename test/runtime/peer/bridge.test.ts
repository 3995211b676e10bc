import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { until } from '../../support/e2e/until.js';
import { modernCall } from '../../support/proxied-bench.js';
import { closeBenches, eventsOf, messageOf, openStdio, textOf } from '../../support/stdio/bench.js';

const SERVER = { 'io.modelcontextprotocol/serverInfo': { name: 'fixture', version: '1' } };

describe('modern clients of a legacy child', () => {
  afterEach(closeBenches);

  it('server/discover is answered from the handshake, without what cannot be delivered', async () => {
    const bench = await openStdio('legacy');
    assert.deepEqual(messageOf(await bench.send(modernCall('server/discover')).done), {
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          completions: {},
          logging: {},
        },
        instructions: 'Use\nit.',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: SERVER,
      },
    });
  });

  it('results get their type, caching hints and who answered; errors get the codes and statuses of the revision', async () => {
    const bench = await openStdio('legacy');
    const list = messageOf(await bench.send(modernCall('tools/list')).done) as { result: Record<string, unknown> };
    const { tools, ...rest } = list.result;
    assert.ok(Array.isArray(tools));
    assert.deepEqual(rest, { resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: SERVER });
    const read = (uri: string) => bench.send(modernCall('resources/read', { uri })).done;
    assert.deepEqual(messageOf(await read('test://a')).result, {
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      contents: [{ uri: 'test://a', text: 'A' }],
      _meta: { own: 1, ...SERVER },
    });
    const missing = await read('test://none');
    assert.deepEqual([missing.status, missing.rpc_code, missing.outcome], [200, -32602, 'rpc_error']);
    assert.deepEqual(messageOf(missing).error, { code: -32602, message: 'Resource not found' });
    assert.equal((await bench.send(modernCall('made/up')).done).status, 404);
    for (const gone of ['ping', 'logging/setLevel', 'resources/subscribe'])
      assert.equal((await bench.send(modernCall(gone)).done).error?.code, 'METHOD_NOT_FOUND', gone);
  });

  it('the metadata of the revision stays here; everything else in _meta goes on', async () => {
    const bench = await openStdio('legacy');
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, own: [1] };
    const answer = await bench.send(modernCall('tools/call', { name: 'meta', _meta: meta })).done;
    assert.deepEqual(JSON.parse(textOf(answer)), { own: [1] });
  });

  it('a question that only a legacy client can be asked ends the call that it is about with -32021; others go on', async () => {
    const bench = await openStdio('legacy');
    const alone = await bench.tool('ask').done;
    assert.deepEqual([alone.status, alone.error?.code, alone.error?.rpc], [400, 'MISSING_CAPABILITY', -32021]);
    const other = bench.tool('sleep_echo', { ms: 200, v: 'fine' });
    const asked = bench.tool('ask', { id: 5 });
    assert.match(textOf(await asked.done), /-32021/);
    assert.equal(textOf(await other.done), 'fine');
    assert.match(textOf(await bench.tool('ask', { id: 6, method: 'roots/list' }).done), /cannot be asked/);
    const counted = bench.told.filter((line) => line.startsWith('question '));
    assert.deepEqual(
      counted.map((line) => line.split(' ').at(-1)),
      ['elicitation/create', 'elicitation/create', 'roots/list'],
    );
  });

  it('a notification of a modern client is accepted and cancels nobody', async () => {
    const bench = await openStdio('legacy');
    const held = bench.tool('hang');
    const over = { kind: 'notification', id: undefined } as const;
    assert.equal((await bench.send(modernCall('notifications/cancelled', { requestId: 1 }, { over })).done).status, 202);
    assert.deepEqual(JSON.parse(textOf(await bench.tool('cancelled').done)), []);
    held.cancel('client');
    const stream = await bench.send(modernCall('', {}, { over: { kind: 'get_stream', id: undefined } })).done;
    assert.deepEqual([stream.status, stream.headers], [405, ['allow', 'POST']]);
  });

  it('subscriptions/listen: acknowledged first and honestly, then exactly what was asked for, each stamped', async () => {
    const bench = await openStdio('legacy');
    const listen = (id: string, notifications: object) =>
      bench.send(
        modernCall(
          'subscriptions/listen',
          {},
          {
            over: {
              id,
              body: Buffer.from(
                `{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":{"notifications":${JSON.stringify(notifications)}}}`,
              ),
            },
          },
        ),
      );
    const lists = listen('"s1"', { toolsListChanged: true });
    const updates = listen('7', { resourceSubscriptions: ['test://a', 'test://no'] });
    await Promise.all([lists.wrote(1), updates.wrote(1)]);
    assert.equal(textOf(await bench.tool('changes').done), 'test://a');
    await Promise.all([lists.wrote(2), updates.wrote(2)]);
    const seen = (writes: readonly string[]) => eventsOf(writes.join('')).map((text) => JSON.parse(text));
    const stamp = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });
    assert.deepEqual(seen(lists.writes), [
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true }, ...stamp('s1') },
      },
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: stamp('s1') },
    ]);
    assert.deepEqual(seen(updates.writes), [
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { resourceSubscriptions: ['test://a'] }, ...stamp(7) },
      },
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://a', ...stamp(7) } },
    ]);
    updates.cancel('client');
    await until('nobody listens to it any more', async () => textOf(await bench.tool('changes').done) === '');

    const nothing = listen('8', {});
    assert.deepEqual(
      seen([(await nothing.done).body.toString()]).map(({ method, result }) => method ?? result.resultType),
      ['notifications/subscriptions/acknowledged', 'complete'],
    );
    const bad = await listen('9', { toolsListChanged: 1 }).done;
    assert.deepEqual([bad.status, bad.error?.code, bad.error?.rpc], [400, 'INVALID_PARAMS', -32602]);
    const drained = listen('10', { toolsListChanged: true });
    await drained.wrote(1);
    drained.drain();
    const { reason, outcome, body } = await drained.done;
    assert.deepEqual([reason, outcome], ['drain', 'ok']);
    assert.deepEqual(seen([body.toString()]).at(-1), {
      jsonrpc: '2.0',
      id: 10,
      result: { resultType: 'complete', _meta: { ...stamp(10)._meta, ...SERVER } },
    });
    const crash = bench.tool('crash');
    assert.equal((await crash.done).error?.code, 'UPSTREAM_ENDED');
    const end = await lists.done;
    assert.deepEqual([end.reason, end.rpc_code], ['error', -32603]);
    assert.equal(seen([end.body.toString()]).at(-1).error.data.code, 'UPSTREAM_ENDED');
  });

  it('a modern child’s own subscription carries the client’s id, and its end reaches the child', async () => {
    const bench = await openStdio('modern');
    const body = Buffer.from(
      '{"jsonrpc":"2.0","id":"s1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}',
    );
    const listen = bench.send(modernCall('subscriptions/listen', {}, { over: { id: '"s1"', body } }));
    await listen.wrote(1);
    assert.deepEqual(JSON.parse(eventsOf(listen.writes.join(''))[0] ?? '').params, {
      notifications: { toolsListChanged: true },
      _meta: { 'io.modelcontextprotocol/subscriptionId': 's1' },
    });
    listen.cancel('client');
    assert.deepEqual(JSON.parse(textOf(await bench.tool('cancelled').done)), [3]);
    const drained = bench.send(modernCall('subscriptions/listen', {}, { over: { id: '"s1"', body } }));
    await drained.wrote(1);
    drained.drain();
    assert.equal((await drained.done).reason, 'drain');
    assert.equal(
      drained.writes.at(-1),
      'event: message\ndata: {"jsonrpc":"2.0","id":"s1","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"s1"}}}\n\n',
    );
  });
});
