import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gate } from '../../../gates/rate/gate.js';
import type { GateDecision, RequestGate } from '../../../src/gate.js';
import { makeContext, makeHead, makeHost, makeIdentity, openGate, type TestHost } from '../../../src/testing.js';
import { brief, configTable } from '../../support/gate-tables.js';

configTable(gate, [
  ['the defaults', {}, undefined],
  ['everything', { limit: 1, window_ms: 1, by: 'ip', algorithm: 'token_bucket', max_keys: 1, ipv6_prefix: 48 }, undefined],
  ['no requests', { limit: 0 }, 'options.limit: must be >= 1'],
  ['half a request', { limit: 1.5 }, 'options.limit: must be integer'],
  ['text', { limit: '60' }, 'options.limit: must be integer'],
  ['no window', { window_ms: 0 }, 'options.window_ms: must be >= 1'],
  ['another caller', { by: 'token' }, 'options.by: must be one of principal, client, ip'],
  ['a misspelt key', { windows_ms: 1 }, 'options.windows_ms: unknown key; did you mean window_ms?'],
]);

const limited = '429 RATE_LIMITED';
const as = (principal: string, more = {}) => makeContext({ identity: makeIdentity({ principal, ...more }) });
const from = (address: string) => makeHead({ peer: { address } });

async function open(options: unknown): Promise<{
  opened: RequestGate;
  host: TestHost;
  by: (context: ReturnType<typeof makeContext>, head?: ReturnType<typeof makeHead>) => string;
}> {
  const host = makeHost();
  const opened = await openGate(gate, options, host);
  return { opened, host, by: (context, head = makeHead()) => brief(opened.decide(head, context) as GateDecision) };
}

describe('rate: fixed window', () => {
  test('counts a principal’s requests until the window that its first one opened has ended', async () => {
    const { by, host } = await open({ limit: 3, window_ms: 1_000 });
    assert.deepEqual([by(as('a')), by(as('a')), by(as('a')), by(as('a'))], ['pass', 'pass', 'pass', limited]);
    assert.equal(by(as('b')), 'pass');
    host.clock.advance(999);
    assert.equal(by(as('a')), limited);
    host.clock.advance(1);
    assert.deepEqual([by(as('a')), by(as('a')), by(as('a')), by(as('a'))], ['pass', 'pass', 'pass', limited]);
  });

  test('says when to come back', async () => {
    const { opened, host } = await open({ limit: 1, window_ms: 60_000 });
    await opened.decide(makeHead(), as('a'));
    host.clock.advance(18_500);
    assert.deepEqual(await opened.decide(makeHead(), as('a')), {
      kind: 'refuse',
      status: 429,
      code: 'RATE_LIMITED',
      message: 'Too many requests. Retry in 42 s.',
      headers: {
        'retry-after': '42',
        ratelimit: '"default";r=0;t=42',
        'ratelimit-policy': '"default";q=1;w=60',
        'ratelimit-limit': '1',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '42',
      },
    });
  });
});

describe('rate: token bucket', () => {
  test('allows the burst, then as much as flows in', async () => {
    const { by, host } = await open({ limit: 4, window_ms: 1_000, algorithm: 'token_bucket' });
    const five = () => [1, 2, 3, 4, 5].map(() => by(as('a')));
    assert.deepEqual(five(), ['pass', 'pass', 'pass', 'pass', limited]);
    host.clock.advance(249);
    assert.equal(by(as('a')), limited);
    host.clock.advance(1);
    assert.deepEqual([by(as('a')), by(as('a'))], ['pass', limited]);
    host.clock.advance(3_600_000);
    assert.deepEqual(five(), ['pass', 'pass', 'pass', 'pass', limited]);
  });

  test('says when the next request has flowed in', async () => {
    const { opened } = await open({ limit: 2, window_ms: 60_000, algorithm: 'token_bucket' });
    for (let i = 0; i < 2; i += 1) await opened.decide(makeHead(), as('a'));
    const refused = await opened.decide(makeHead(), as('a'));
    assert.ok(refused.kind === 'refuse');
    assert.equal(refused.headers?.['retry-after'], '30');
  });
});

describe('rate: who shares a budget', () => {
  const pairs: readonly (readonly [
    name: string,
    options: object,
    first: readonly [string, object, string?],
    second: readonly [string, object, string?],
    same: boolean,
  ])[] = [
    ['two principals do not', {}, ['a', {}], ['b', {}], false],
    ['one name of two issuers does not', {}, ['a', { issuer: 'x' }], ['a', { issuer: 'y' }], false],
    ['two clients of one principal do', {}, ['a', { client: 'x' }], ['a', { client: 'y' }], true],
    ['two principals of one client do, by client', { by: 'client' }, ['a', { client: 'x' }], ['b', { client: 'x' }], true],
    ['two clients do not, by client', { by: 'client' }, ['a', { client: 'x' }], ['a', { client: 'y' }], false],
    ['a client and a principal of its name do not', { by: 'client' }, ['x', {}], ['a', { client: 'x' }], false],
    ['two principals at one address do, by ip', { by: 'ip' }, ['a', {}], ['b', {}], true],
    ['one principal at two addresses does not, by ip', { by: 'ip' }, ['a', {}, '10.0.0.1'], ['a', {}, '10.0.0.2'], false],
    ['one /64 does, by ip', { by: 'ip' }, ['a', {}, '2001:db8::1'], ['a', {}, '2001:db8:0:0:ffff::2'], true],
    ['two /64 do not, by ip', { by: 'ip' }, ['a', {}, '2001:db8::1'], ['a', {}, '2001:db8:0:1::1'], false],
    ['a mapped address is its IPv4 address', { by: 'ip' }, ['a', {}, '::ffff:10.0.0.1'], ['a', {}, '10.0.0.1'], true],
  ];
  for (const [name, options, first, second, same] of pairs) {
    test(name, async () => {
      const { by } = await open({ limit: 1, ...options });
      assert.equal(by(as(first[0], first[1]), from(first[2] ?? '127.0.0.1')), 'pass');
      assert.equal(by(as(second[0], second[1]), from(second[2] ?? '127.0.0.1')), same ? limited : 'pass');
    });
  }

  test('nobody is counted by address', async () => {
    const { by } = await open({ limit: 1 });
    assert.deepEqual(
      [by(makeContext(), from('10.0.0.1')), by(makeContext(), from('10.0.0.2')), by(makeContext(), from('10.0.0.1'))],
      ['pass', 'pass', limited],
    );
  });

  test('all routes that name the gate do', async () => {
    const host = makeHost();
    const one = await openGate(gate, { limit: 1 }, host);
    const two = await openGate(gate, { limit: 1 }, host);
    assert.equal(brief(await one.decide(makeHead(), as('a'))), 'pass');
    assert.equal(brief(await two.decide(makeHead(), as('a'))), limited);
  });
});

test('rate forgets the longest idle caller at max_keys, and only then', async () => {
  const { by, host } = await open({ limit: 1, max_keys: 2 });
  assert.deepEqual([by(as('a')), by(as('b')), by(as('a'))], ['pass', 'pass', limited]);
  assert.equal(host.metrics.value('rate_keys', { gate: 'test' }), 2);
  assert.equal(by(as('c')), 'pass');
  assert.equal(host.metrics.value('rate_keys', { gate: 'test' }), 2);
  assert.deepEqual([by(as('a')), by(as('b'))], [limited, 'pass']);
});

test('rate needs an identity before it, unless it counts by address', () => {
  const { requires } = gate;
  assert.ok(typeof requires === 'function');
  const options = { limit: 1, window_ms: 1, algorithm: 'fixed_window', max_keys: 1, ipv6_prefix: 64 } as const;
  assert.deepEqual(
    [requires({ ...options, by: 'principal' }), requires({ ...options, by: 'client' }), requires({ ...options, by: 'ip' })],
    [['identity'], ['identity'], []],
  );
});
