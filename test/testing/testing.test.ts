import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeClock, makeContext, makeHead, makeHost, makeIdentity, makeLog, makeMetrics } from '../../src/testing.js';

describe('portcullis/testing', () => {
  test('a clock stands still until it is moved, and runs what falls due in order', () => {
    const clock = makeClock(1_000);
    const ran: string[] = [];
    clock.timer(20, () => ran.push(`b ${clock.mono_ms()}`));
    const cancelled = clock.timer(5, () => ran.push('never'));
    const every = clock.interval(8, () => ran.push(`i ${clock.now_ms()}`));
    clock.timer(10, () => clock.timer(1, () => ran.push(`a ${clock.mono_ms()}`)));
    cancelled.cancel();
    cancelled.cancel();
    assert.equal(clock.pending, 3);
    clock.advance(19);
    assert.deepEqual(ran, ['i 1008', 'a 11', 'i 1016']);
    every.cancel();
    clock.advance(100);
    assert.deepEqual(ran.slice(3), ['b 20']);
    assert.deepEqual([clock.mono_ms(), clock.now_ms(), clock.pending], [119, 1_119, 0]);
  });

  test('a head has what the test says and is modern, local and plain else', () => {
    const head = makeHead({ headers: { 'X-A': '1', 'x-b': ['1', '2'] }, peer: { address: '10.0.0.1' }, claims: { method: 'tools/list' } });
    assert.deepEqual([head.headers.get('x-a'), head.headers.get('x-b'), head.headers.get('x-c')], ['1', undefined, undefined]);
    assert.deepEqual([head.headers.all('x-b'), head.headers.all('x-c')], [['1', '2'], []]);
    assert.deepEqual(head.headers.raw, ['X-A', '1', 'x-b', '1', 'x-b', '2']);
    assert.deepEqual(head.peer, { address: '10.0.0.1', trusted: false, client_address: '10.0.0.1', tls: undefined });
    assert.deepEqual(head.claims, { era: 'modern', revision: '2026-07-28', declared: true, method: 'tools/list', name: undefined });
    assert.deepEqual([head.method, head.path, head.query], ['POST', '/mcp', '']);
  });

  test('a context has the facts of its identity', () => {
    assert.deepEqual(makeContext({ identity: makeIdentity({ facts: { a: 1 } }) }).facts, { a: 1 });
    assert.equal(makeContext().identity, undefined);
    assert.equal(makeContext().signal.aborted, false);
  });

  test('a log keeps the lines of its children', () => {
    const log = makeLog();
    log.child({ a: 1 }).child({ b: 2 }).warn({ c: 3 }, 'hm');
    assert.deepEqual(log.lines, [{ level: 'warn', message: 'hm', fields: { a: 1, b: 2, c: 3 } }]);
  });

  test('metrics can be read back, whatever the order of labels', () => {
    const metrics = makeMetrics();
    metrics.counter('c', '').add({ x: '1', y: '2' }, 3);
    metrics.counter('c', '').add({ y: '2', x: '1' });
    metrics.histogram('h', '').observe(0.5);
    const back = metrics.gauge('g', '', [], () => [{ value: 7 }]);
    assert.deepEqual([metrics.value('c', { x: '1', y: '2' }), metrics.value('h'), metrics.value('g'), metrics.value('none')], [4, 1, 7, 0]);
    back();
    assert.equal(metrics.value('g'), 0);
  });

  test('a host shares by key', () => {
    const host = makeHost();
    const first = host.shared('k', () => ({ close: async () => {} }));
    assert.equal(
      host.shared('k', () => ({ close: async () => {} })),
      first,
    );
  });
});
