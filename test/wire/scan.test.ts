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
    '"name":"größe \\u00e9","uri":"file:///a","taskId":"t\\u00e9","protocolVersion":"x","arguments":{"__proto__":1},"_meta":{"progressToken":"t\\n","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{"a":[]}}',
  );
  assert.deepEqual(good(` \n${text}\r\t`), {
    kind: 'request',
    id: '1',
    id_span: [24, 25],
    method: 'tools/call',
    name: 'größe é',
    uri: 'file:///a',
    taskId: 'té',
    progress_token: '"t\\n"',
    meta: {
      present: true,
      protocol_version: '2026-07-28',
      has_client_info: true,
      has_client_capabilities: true,
      traceparent: undefined,
      tracestate: undefined,
    },
    requested_version: 'x',
  });
});

test('a notification has a method and no id; a response has an id and a result or an error', () => {
  const notification = good('{"method":"notifications/x","jsonrpc":"2.0"}');
  assert.deepEqual([notification.kind, notification.id, notification.id_span], ['notification', undefined, undefined]);
  const response = good('{"jsonrpc":"2.0","id":"e1","result":{"action":"accept"}}');
  assert.deepEqual([response.kind, response.id, response.method], ['response', '"e1"', '']);
  assert.equal(good('{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":""}}').kind, 'response');
  // The id of a response is one that the server chose: an error with it would answer another request of the client.
  bad('{"jsonrpc":"2.0","id":7,"error":{},"result":{}}', 'INVALID_REQUEST');
  bad('{"jsonrpc":"1.0","id":7,"result":{}}', 'INVALID_REQUEST');
  bad('{"jsonrpc":"2.0","id":7,"method":"x","result":{}}', 'INVALID_REQUEST', '7');
  bad('{"jsonrpc":"2.0","result":{}}', 'INVALID_REQUEST');
  bad('{"jsonrpc":"2.0","id":7}', 'INVALID_REQUEST', '7');
});

test('numbers of any size and form pass; only integers of more than 64 digits are refused', () => {
  good(params('"arguments":{"id":9223372036854775807,"x":1.10,"e":1E400,"f":-0.0,"g":1e-400}'));
  good(params(`"arguments":[${'9'.repeat(64)},-${'9'.repeat(64)},"${'9'.repeat(65)}",0.${'9'.repeat(99)},${'9'.repeat(99)}e1]`));
  assert.match(bad(params(`"arguments":[${'9'.repeat(65)}]`), 'PARSE_ERROR'), /more than 64 digits/);
  bad(params(`"arguments":[-${'9'.repeat(65)}]`), 'PARSE_ERROR');
  bad(`{"jsonrpc":"2.0","id":${'9'.repeat(65)},"method":"x"}`, 'PARSE_ERROR');
});

test('an id keeps its type and its digits; 0 and "" are ids', () => {
  for (const id of ['1', '"1"', '0', '-0', '""', '-5', '9007199254740993', '9223372036854775807', '-9223372036854775808', '"a\\u2028b"']) {
    const envelope = good(`{"id":${id},"jsonrpc":"2.0","method":"x"}`);
    assert.deepEqual([envelope.kind, envelope.id, envelope.id_span], ['request', id, [6, 6 + id.length]]);
  }
  good(`{"jsonrpc":"2.0","id":"${'é'.repeat(128)}","method":"x"}`);
  good(`{"jsonrpc":"2.0","id":"${'\\u0041'.repeat(256)}","method":"x"}`);
});

test('an id that is null, fractional, out of bounds or no scalar is refused without an id', () => {
  const ids = [
    'null',
    '1.5',
    '1.0',
    '1e2',
    '{}',
    '[]',
    'true',
    'false',
    '9223372036854775808',
    '-9223372036854775809',
    `"${'é'.repeat(129)}"`,
  ];
  for (const id of [...ids, `"${'x'.repeat(257)}"`, `"${'\\u0041'.repeat(257)}"`, '"\\ud800"', '1'.repeat(64)]) {
    assert.match(bad(`{"jsonrpc":"2.0","id":${id},"method":"x"}`, 'INVALID_REQUEST'), /^id must be/, id);
    assert.match(bad(`{"jsonrpc":"2.0","id":${id},"result":{}}`, 'INVALID_REQUEST'), /^id must be/, id);
  }
});

test('a batch, a scalar or nothing is no request; broken JSON is a parse error', () => {
  for (const body of ['[]', `[${request('')}]`, '[{"jsonrpc":"2.0","method":"notifications/x"}]', '1', '"x"', 'null', 'true', '{}']) {
    bad(body, 'INVALID_REQUEST');
  }
  for (const body of [
    '',
    ' ',
    '[',
    `[${request('')}`,
    '{',
    'nul',
    '01',
    '"x',
    `${request('')}{}`,
    `${request('')},`,
    `\ufeff${request('')}`,
  ]) {
    bad(body, 'PARSE_ERROR');
  }
});

test('keys that two parsers could read differently are refused in the envelope, params and _meta', () => {
  assert.match(bad(params('"name":"ok","Name":"secret"'), 'INVALID_REQUEST', '1'), /^params: a key is "name" in another case/);
  assert.match(bad(params('"name":"secret","name":"ok"'), 'INVALID_REQUEST', '1'), /^params: "name" comes twice/);
  assert.match(bad(request(',"method":"ping"'), 'INVALID_REQUEST', '1'), /^The message: "method" comes twice/);
  const keys = [
    '"NAME":1',
    '"name\\u0000":1',
    '"n\\u0061me":1,"name":2',
    '"x":1,"x":2',
    '"x":1,"X":2',
    '"x":1,"\\u0058":2',
    '"ß":1,"SS":2',
  ];
  for (const inner of [...keys, '"_META":{}', '"ARGUMENTS":{}', '"\\ud800":1', '"\u212a":1,"k":2', '"\u017f":1,"s":1']) {
    bad(params(inner), 'INVALID_REQUEST', '1');
  }
  for (const inner of [
    '"progresstoken":1',
    '"io.modelcontextprotocol/ProtocolVersion":"x"',
    '"a":1,"a":1',
    '"a\\u0000":1',
    '"\u212a":1,"K":1',
  ]) {
    bad(params(`"_meta":{${inner}}`), 'INVALID_REQUEST', '1');
  }
  for (const rest of [',"param\u017f":{}', ',"param\\u017f":{}', ',"Method":"x"', ',"x":1,"X":2', ',"x\\u0000":1', ',"RESULT":{}']) {
    bad(request(rest), 'INVALID_REQUEST', '1');
  }
  for (const rest of [',"id":2', ',"ID":2', ',"\\u0069d":1']) bad(request(rest), 'INVALID_REQUEST');
});

test('below params and _meta keys are left alone, and an escaped spelling of a key is that key', () => {
  const twice = '{"a":1,"a":2,"A":3,"__proto__":{"x":1},"constructor":1,"a\\u0000":1,"name":"x"}';
  good(params(`"name":"x","arguments":${twice},"_meta":{"other":${twice}},"__proto__":1,"toString":2`));
  assert.equal(good(params('"n\\u0061me":"x"')).name, 'x');
  assert.equal(good('{"jsonrpc":"2.0","\\u0069d":1,"m\\u0065thod":"x"}').id, '1');
  assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
});

test('nesting of 128 passes and of 129 or 100 000 is refused', () => {
  const nested = (depth: number): string => params(`"arguments":${'['.repeat(depth)}${']'.repeat(depth)}`);
  good(nested(126));
  assert.match(bad(nested(127), 'PARSE_ERROR'), /deeper than 128/);
  const objects = (depth: number): string => params(`"arguments":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  good(objects(126));
  bad(objects(127), 'PARSE_ERROR');
  bad(params(`"_meta":{"a":${'['.repeat(126)}${']'.repeat(126)}}`), 'PARSE_ERROR');
  bad('['.repeat(100_000), 'PARSE_ERROR');
  bad('{"a":'.repeat(100_000), 'PARSE_ERROR');
});

test('a name, uri or method with NUL or half a surrogate pair is refused', () => {
  for (const text of ['a\\u0000', '\\ud800', '\\udc00\\ud800']) {
    bad(params(`"name":"${text}"`), 'INVALID_REQUEST', '1');
    bad(params(`"uri":"${text}"`), 'INVALID_REQUEST', '1');
    bad(`{"jsonrpc":"2.0","id":1,"method":"${text}"}`, 'INVALID_REQUEST', '1');
  }
  assert.equal(good(params('"name":"\\ud83d\\ude00"')).name, '😀');
  assert.equal(good(params('"name":7')).name, undefined);
  assert.equal(good(params('"name":null')).name, undefined);
});

test('jsonrpc is "2.0" and method a string that is not empty', () => {
  for (const rest of ['"jsonrpc":2.0', '"jsonrpc":"2.1"', '"jsonrpc":null', '"x":1'])
    bad(`{${rest},"id":1,"method":"x"}`, 'INVALID_REQUEST', '1');
  for (const method of ['""', '1', 'null', '{}', '["x"]']) bad(`{"jsonrpc":"2.0","id":1,"method":${method}}`, 'INVALID_REQUEST', '1');
});

test('params and _meta are objects, or null, which is nothing; a progress token has the bounds of an id', () => {
  assert.equal(good(request(',"params":null')).meta.present, false);
  assert.equal(good(params('"_meta":null')).meta.present, false);
  assert.deepEqual(good(params('"_meta":{}')).meta, {
    present: true,
    protocol_version: undefined,
    has_client_info: false,
    has_client_capabilities: false,
    traceparent: undefined,
    tracestate: undefined,
  });
  for (const value of ['[]', '1', '"x"', 'true']) {
    bad(request(`,"params":${value}`), 'INVALID_REQUEST', '1');
    bad(params(`"_meta":${value}`), 'INVALID_PARAMS', '1');
    bad(params(`"_meta":{"io.modelcontextprotocol/protocolVersion":${value === '"x"' ? 'null' : value}}`), 'INVALID_PARAMS', '1');
  }
  assert.equal(good(params('"_meta":{"progressToken":9007199254740993}')).progress_token, '9007199254740993');
  for (const token of ['null', '1.5', '1e2', 'true', '{}', '[]', `"${'x'.repeat(257)}"`, '9223372036854775808']) {
    bad(params(`"_meta":{"progressToken":${token}}`), 'INVALID_PARAMS', '1');
  }
});

test('a policed object has at most 1 024 unknown members', () => {
  const members = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',');
  good(params(members(1024)));
  assert.match(bad(params(members(1025)), 'INVALID_REQUEST', '1'), /more than 1024 members/);
});

test('bytes that are no UTF-8 are refused everywhere', () => {
  const broken = [
    [0x80],
    [0xc0, 0x80],
    [0xc1, 0xbf],
    [0xe0, 0x80, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf0, 0x80, 0x80, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xc3],
    [0xe2, 0x82],
    [0xf0, 0x9f, 0x98],
    [0xff],
    [0xc3, 0x28],
  ];
  for (const bytes of broken) {
    bad(Buffer.concat([Buffer.from(params('"a":"')).subarray(0, -2), Buffer.from(bytes), Buffer.from('"}}')]), 'PARSE_ERROR');
    bad(Buffer.from(bytes), 'PARSE_ERROR');
  }
  for (const text of ['\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}', '\u007f']) {
    assert.equal(good(params(`"name":"${text}"`)).name, text);
  }
});

test('broken JSON after a broken message is a parse error, and whatever was read stays unsaid', () => {
  bad('{"jsonrpc":"2.0","id":1,"id":2,"method":"x"', 'PARSE_ERROR');
  bad('{"jsonrpc":"2.0","id":1,"method":"x",}', 'PARSE_ERROR');
  bad('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":tru}}', 'PARSE_ERROR');
});

test('details say where and never repeat the body', () => {
  const detail = bad(params(`"sécret\\u0000${'x'.repeat(500)}":1`), 'INVALID_REQUEST', '1');
  assert.equal(detail, 'params: a key contains NUL or half a surrogate pair.');
  assert.equal(bad('{"jsonrpc":"2.0" "id":1}', 'PARSE_ERROR'), 'Byte 17 is not valid JSON there.');
});
