import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import { type CallInit, fields, legacyBare, legacyCall, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

const told: CallInit = { identity: {}, route: { forward_identity_header: 'x-who' } };
const error = (id = '1'): string => `{"jsonrpc":"2.0","id":${id},"error":{"code":-32003,"message":"not yours"}}`;

describe('proxied: an upstream that refuses', () => {
  let upstream: Upstream;
  let bench: ProxiedBench;
  let answer: Answering;
  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    bench = await openProxied(`${upstream.url}/mcp`);
  });
  after(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });
  const reply = (status: number, body: string, headers: Record<string, string> = {}): void => {
    const all = { 'Content-Type': 'application/json', 'WWW-Authenticate': 'Bearer error="insufficient_scope"', ...headers };
    answer = (_request, response) => void response.writeHead(status, all).end(body);
  };

  it('a caller that it was told of: its 403 to this very call goes on, without its challenge', async () => {
    for (const call of [modernCall('tools/call', { name: 'x' }, told), legacyCall('tools/call', { name: 'x' }, told)]) {
      for (const id of ['1', '"1"']) {
        reply(403, error(id), { 'Retry-After': '5' });
        const result = await bench.send(call).done;
        assert.deepEqual(
          [result.by, result.status, result.outcome, result.rpc_code, result.body.toString()],
          ['respond', 403, 'rpc_error', -32003, error()],
        );
        assert.deepEqual(fields(result.headers), { 'content-type': 'application/json', 'retry-after': '5' });
      }
    }
  });

  const call = modernCall('tools/call', { name: 'x' }, told);
  const refused: readonly (readonly [string, Call, number, string, Record<string, string>?])[] = [
    ['401', call, 401, error()],
    ['407', call, 407, error()],
    ['nobody is known', modernCall('tools/call', { name: 'x' }, { route: { forward_identity_header: 'x-who' } }), 403, error()],
    ['the upstream was not told who calls', modernCall('tools/call', { name: 'x' }, { identity: {} }), 403, error()],
    ['another id', call, 403, error('2')],
    ['no id', call, 403, error('null')],
    ['server-error', call, 403, error('"server-error"')],
    ['a result', call, 403, '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['no code', call, 403, '{"jsonrpc":"2.0","id":1,"error":{}}'],
    ['no JSON-RPC', call, 403, '{"detail":"Forbidden"}'],
    ['no JSON', call, 403, error(), { 'Content-Type': 'text/plain' }],
    ['coded', call, 403, error(), { 'Content-Encoding': 'gzip' }],
    ['too long', call, 403, error().replace('yours', 'x'.repeat(70_000))],
    ['cut', call, 403, error().slice(0, -1)],
    ['a notification', legacyCall('notifications/x', {}, { ...told, over: { kind: 'notification', id: undefined } }), 403, error()],
    ['a response', legacyCall('', {}, { ...told, over: { kind: 'response', id: '1' } }), 403, error()],
    ['a GET', legacyBare('get_stream', told), 403, error()],
  ];
  for (const [name, asked, status, body, headers] of refused) {
    it(`any other refusal is of the gateway: ${name}`, async () => {
      reply(status, body, headers);
      const result = await bench.send(asked).done;
      assert.deepEqual([result.by, result.status, result.error?.code], ['fail', 502, 'UPSTREAM_REFUSED']);
      assert.deepEqual(fields(result.headers), {});
    });
  }
});
