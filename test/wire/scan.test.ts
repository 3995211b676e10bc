import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/errors/codes.js';
import { type Envelope, scanMessage } from '../../src/wire/scan.js';

const encoder = new TextEncoder();

function good(text: string): Envelope {
  const result = scanMessage(encoder.encode(text));
  assert.equal(result.ok, true, `${text.slice(0, 120)}: ${JSON.stringify(result)}`);
  return (result as { value: Envelope }).value;
}

function bad(body: string | Uint8Array, code: ErrorCode, id?: string): string {
  const result = scanMessage(typeof body === 'string' ? encoder.encode(body) : body);
  assert.equal(result.ok, false, `accepted ${String(body).slice(0, 120)}`);
  const refused = result as { fault: { code: ErrorCode; detail?: string }; id: string | undefined };
  assert.deepEqual([refused.fault.code, refused.id], [code, id], String(body).slice(0, 120));
  return refused.fault.detail ?? '';
}

const request = (rest: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call"${rest}}`;
const params = (inner: string): string => request(`,"params":{${inner}}`);

test('a request is read into its parts', () => {
  const text = params(
    '"name":"größe \\u00e9","uri":"file:///a","protocolVersion":"x","arguments":{"__proto__":1},"_meta":{"progressToken":"t\\n","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{"a":[]}}',
  );
  assert.deepEqual(good(` \n${text}\r\t`), {
    kind: 'request',
    id: '1',
    id_span: [24, 25],
    method: 'tools/call',
    name: 'größe é',
    uri: 'file:///a',
    progress_token: '"t\\n"',
    meta: { present: true, protocol_version: '2026-07-28', has_client_info: true, has_client_capabilities: true },
    requested_version: 'x',
  });
});

test('a notification has a method and no id; a response has an id and a result or an error', () => {
  const notification = good('{"method":"notifications/x","jsonrpc":"2.0"}');
  assert.deepEqual([notification.kind, notification.id, notification.id_span], ['notification', undefined, undefined]);
  const response = good('{"jsonrpc":"2.0","id":"e1","result":{"action":"accept"}}');
  assert.deepEqual([response.kind, response.id, response.method], ['response', '"e1"', '']);
  assert.equal(good('{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":""}}').kind, 'response');
  bad('{"jsonrpc":"2.0","id":7,"error":{},"result":{}}', 'INVALID_REQUEST', '7');
  bad('{"jsonrpc":"2.0","id":7,"method":"x","result":{}}', 'INVALID_REQUEST', '7');
  bad('{"jsonrpc":"2.0","result":{}}', 'INVALID_REQUEST');
  bad('{"jsonrpc":"2.0","id":7}', 'INVALID_REQUEST', '7');
});
