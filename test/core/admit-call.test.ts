import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestHead } from '../../src/contract/head.js';
import { admitCall } from '../../src/core/serve.js';
import { modernBody } from '../demo/rpc.js';

describe('admitCall', () => {
  const claims = { era: 'modern', revision: '2026-07-28', declared: true, method: 'tools/call', name: 'add' } as const;
  const head = { id: 'r1', claims } as unknown as RequestHead;
  const sender = { head, identity: undefined, facts: { seen: true }, route: { path: '/mcp', url: '', runtime: 'x' } };
  const body = Buffer.from(modernBody('tools/call', { name: 'add' }));

  it('makes a call of the very bytes, with what is known of its sender', () => {
    const admitted = admitCall(body, sender);
    assert.ok(admitted.ok);
    const { call, envelope } = admitted;
    assert.deepEqual([call.kind, call.method, call.name, call.era], ['request', 'tools/call', 'add', 'modern']);
    assert.ok(call.body === body && call.head === head && call.facts === sender.facts && call.route === sender.route);
    assert.equal(envelope.meta.protocol_version, '2026-07-28');
  });

  it('takes a head that is made of the envelope', () => {
    const admitted = admitCall(body, { ...sender, head: ({ method }) => ({ ...head, claims: { ...claims, method } }) });
    assert.equal(admitted.ok && admitted.call.head.claims.method, 'tools/call');
  });

  it('says what is wrong, with the id of a request alone, and of what kind the message is', () => {
    const refused = (text: string) => {
      const admitted = admitCall(Buffer.from(text), sender);
      return admitted.ok ? 'ok' : [admitted.fault.code, admitted.id, admitted.kind];
    };
    assert.deepEqual(refused('{'), ['PARSE_ERROR', undefined, undefined]);
    assert.deepEqual(refused('{"jsonrpc":"1.0","id":7,"method":"ping"}'), ['INVALID_REQUEST', '7', undefined]);
    assert.deepEqual(refused('{"jsonrpc":"2.0","id":"7","method":"ping"}'), ['HEADER_MISMATCH', '"7"', 'request']);
    assert.deepEqual(refused('{"jsonrpc":"2.0","id":7,"result":{}}'), ['INVALID_REQUEST', undefined, 'response']);
  });
});
