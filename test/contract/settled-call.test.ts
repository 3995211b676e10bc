import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeHead } from 'portcullis/testing';
import type { Call } from '../../src/contract/runtime.js';
import { settledCall } from '../../src/contract/runtime.js';

test('a settled call is the call without its body and without a field of its head', () => {
  const head = makeHead({ headers: { authorization: 'Bearer secret', accept: 'text/event-stream' } });
  const call: Call = {
    era: 'modern',
    revision: '2026-07-28',
    method: 'subscriptions/listen',
    name: undefined,
    kind: 'request',
    id: '7',
    progress_token: undefined,
    body: Buffer.from('{}'),
    route: { path: '/mcp', url: 'http://127.0.0.1/mcp', runtime: 'server' },
    head,
    identity: undefined,
    facts: {},
  };
  const settled = settledCall(call);
  const { body, head: bare, ...rest } = settled;
  const { body: _body, head: _head, ...given } = call;
  assert.deepEqual(rest, given);
  assert.equal(body.length, 0);
  assert.deepEqual([bare.id, bare.method, bare.path, bare.peer, bare.claims], [head.id, head.method, head.path, head.peer, head.claims]);
  assert.deepEqual([bare.headers.raw, bare.headers.all('authorization'), bare.headers.get('accept')], [[], [], undefined]);
  assert.equal(head.headers.get('authorization'), 'Bearer secret');
});
