import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import { answerTo, inside, LegacyClients, said } from '../../support/legacy-clients.js';
import { event } from '../../support/legacy-upstream.js';
import { legacyBare, legacyCall } from '../../support/proxied-bench.js';

const until = (done: () => boolean | Promise<boolean>): Promise<void> => untilNamed(done.toString(), done);

describe('proxied: the GET stream of a legacy client of a modern server', { timeout: 30_000 }, () => {
  const clients = new LegacyClients();

  const WATCHED = 'x://watched';
  const subscribe = (session: string, method = 'resources/subscribe'): Call =>
    legacyCall(method, { uri: WATCHED }, inside(session, { over: { name: WATCHED } }));

  it('carries the notices of one subscription without its mark, and ends it when the client leaves', async () => {
    const session = await clients.begin();
    const stream = clients.send(legacyBare('get_stream', inside(session)));
    await until(() => clients.upstream.streams.size === 1);
    clients.upstream.tell('notifications/tools/list_changed');
    await stream.wrote(1);
    assert.deepEqual(said(stream), [{ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} }]);
    stream.cancel('client');
    await until(() => clients.upstream.streams.size === 0);
  });

  it('a resource that is subscribed to is taken into a new subscription before the old one ends', async () => {
    const session = await clients.begin();
    const stream = clients.send(legacyBare('get_stream', inside(session)));
    await until(() => clients.upstream.streams.size === 1);
    assert.deepEqual((await answerTo(clients.send(subscribe(session)))).result, {});
    await until(() => clients.upstream.streams.size === 1 && clients.upstream.count('subscriptions/listen') === 2);
    const filter = clients.upstream.messages('subscriptions/listen')[1]?.params?.notifications as Record<string, unknown>;
    assert.deepEqual(filter.resourceSubscriptions, [WATCHED]);
    clients.upstream.tell('notifications/resources/updated', { uri: WATCHED });
    await stream.wrote(1);
    assert.deepEqual(said(stream)[0]?.params, { uri: WATCHED });
    assert.deepEqual((await answerTo(clients.send(subscribe(session, 'resources/unsubscribe')))).result, {});
    await until(() => clients.upstream.count('subscriptions/listen') === 3 && clients.upstream.streams.size === 1);
  });

  it('a resource that the server does not acknowledge is refused; without a stream it is remembered', async () => {
    const session = await clients.begin();
    clients.upstream.special = ({ method, id }, reply) => {
      if (method !== 'subscriptions/listen') return false;
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      const params = { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
      event(reply, { method: 'notifications/subscriptions/acknowledged', params });
      return true;
    };
    assert.deepEqual((await answerTo(clients.send(subscribe(session)))).result, {});
    assert.equal(clients.upstream.count('subscriptions/listen'), 0);
    clients.send(legacyBare('get_stream', inside(session)));
    await until(() => clients.upstream.count('subscriptions/listen') === 1);
    assert.equal((await clients.send(subscribe(session)).done).error?.code, 'INVALID_ARGUMENTS');
  });

  it('a session takes resources up to a limit', async () => {
    const session = await clients.begin();
    const taken = async (uri: string): Promise<boolean> => {
      const call = legacyCall('resources/subscribe', { uri }, inside(session, { over: { name: uri } }));
      return (await clients.send(call).done).error === undefined;
    };
    const long = (last: number): string => `x://${String(last).padStart(4_092, '0')}`;
    assert.equal(await taken(`${long(0)}0`), false);
    let count = 0;
    while (count < 30 && (await taken(long(count)))) count += 1;
    assert.equal(count, 24);
    assert.equal(await taken(long(0)), true);
    assert.equal(await taken('x://short'), true);
  });

  it('a subscription that the server ends is opened again', async () => {
    const session = await clients.begin();
    clients.send(legacyBare('get_stream', inside(session)));
    await until(() => clients.upstream.streams.size === 1);
    for (const response of clients.upstream.streams.keys()) response.end();
    await until(() => clients.upstream.count('subscriptions/listen') === 2);
  });
});
