import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claims } from '../../src/contract/claims.js';
import { type Admitted, admitMessage } from '../../src/dialect/admit.js';
import type { ProtocolFault } from '../../src/errors/error.js';
import { type Envelope, scanMessage } from '../../src/wire/scan.js';

function scan(text: string): Envelope {
  const result = scanMessage(Buffer.from(text));
  assert.equal(result.ok, true, text);
  return (result as { value: Envelope }).value;
}

const modern = (method?: string, name?: string): Claims => ({ era: 'modern', revision: '2026-07-28', declared: true, method, name });
const legacy = (revision: string): Claims => ({ era: 'legacy', revision, declared: true, method: undefined, name: undefined });
const undeclared: Claims = { ...legacy('2025-03-26'), declared: false };

const meta = (version: string): string =>
  `"_meta":{"io.modelcontextprotocol/protocolVersion":"${version}","io.modelcontextprotocol/clientCapabilities":{}}`;
const META = meta('2026-07-28');
const request = (method: string, params: string): string => `{"jsonrpc":"2.0","id":7,"method":"${method}","params":{${params}}}`;
const notification = (method: string, params = ''): string => `{"jsonrpc":"2.0","method":"${method}","params":{${params}}}`;
const INIT = request('initialize', '"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}');

function admitted(text: string, claims: Claims): Admitted {
  const outcome = admitMessage(scan(text), claims);
  assert.equal(outcome.ok, true, JSON.stringify(outcome));
  return (outcome as { value: Admitted }).value;
}

function fault(text: string, claims: Claims): ProtocolFault {
  const outcome = admitMessage(scan(text), claims);
  assert.equal(outcome.ok, false, JSON.stringify(outcome));
  return (outcome as { fault: ProtocolFault }).fault;
}

test('a modern request whose headers mirror its body is admitted', () => {
  assert.deepEqual(admitted(request('tools/call', `"name":"größe",${META}`), modern('tools/call', 'größe')), {
    era: 'modern',
    revision: '2026-07-28',
    method: 'tools/call',
    name: 'größe',
    kind: 'request',
    id: '7',
    progress_token: undefined,
  });
  assert.equal(
    admitted(request('resources/read', `"uri":"file:///a","name":"b",${META}`), modern('resources/read', 'file:///a')).name,
    'file:///a',
  );
  assert.equal(admitted(request('prompts/get', `"uri":"file:///a","name":"b",${META}`), modern('prompts/get', 'b')).name, 'b');
  assert.equal(admitted(request('tools/list', `"name":"b",${META}`), modern('tools/list')).name, undefined);
});

test('a modern body that calls something else than its headers say is refused, also as a notification', () => {
  const call = request('tools/call', `"name":"delete_all",${META}`);
  assert.deepEqual(fault(call, modern('tools/call', 'read_file')), {
    code: 'HEADER_MISMATCH',
    detail: 'Mcp-Name is "read_file", but params.name is "delete_all".',
  });
  assert.equal(fault(call, modern('tools/list')).code, 'HEADER_MISMATCH');
  assert.equal(fault(call, modern('Tools/Call')).detail, 'Mcp-Method is "Tools/Call", but the body\'s method is "tools/call".');
  assert.equal(fault(call, modern('tools/call')).code, 'HEADER_MISMATCH');
  assert.equal(fault(call, modern()).code, 'HEADER_MISMATCH');
  assert.equal(fault(notification('tools/call', '"name":"delete_all"'), modern('tools/call', 'read_file')).code, 'HEADER_MISMATCH');
  assert.equal(fault(notification('tools/call', '"name":"delete_all"'), modern()).code, 'HEADER_MISMATCH');
  for (const text of [
    call,
    request('tools/list', META),
    notification('tools/list', META),
    notification('Notifications/x'),
    notification('x'),
  ]) {
    assert.deepEqual(fault(text, modern()), {
      code: 'HEADER_MISMATCH',
      detail: 'Mcp-Method is missing; revision 2026-07-28 needs it on every request.',
    });
  }
  assert.equal(fault(request('resources/read', `"uri":"b",${META}`), modern('resources/read', 'a')).code, 'HEADER_MISMATCH');
});

test('in a legacy revision the name comes from the body alone', () => {
  const call = request('tools/call', '"name":"delete_all"');
  for (const claims of [undeclared, legacy('2025-11-25'), legacy('2025-06-18'), legacy('2025-03-26'), legacy('2024-11-05')]) {
    const { era, revision, method, name } = admitted(call, claims);
    assert.deepEqual([era, revision, method, name], ['legacy', claims.revision, 'tools/call', 'delete_all']);
  }
  assert.equal(admitted(request('resources/subscribe', '"uri":"file:///a"'), undeclared).name, 'file:///a');
  assert.equal(admitted(request('resources/unsubscribe', '"uri":"file:///a"'), undeclared).name, 'file:///a');
});

test('a request that acts on something must name it, in every revision', () => {
  for (const params of ['', '"name":1', '"name":null', '"uri":"x"']) {
    assert.equal(fault(request('tools/call', params), undeclared).detail, 'tools/call needs params.name as a string.');
  }
  assert.equal(fault(request('resources/read', '"name":"x"'), legacy('2025-11-25')).code, 'INVALID_PARAMS');
  assert.equal(fault(request('tools/call', META), modern('tools/call', 'x')).code, 'INVALID_PARAMS');
  assert.equal(fault(notification('prompts/get'), undeclared).code, 'INVALID_PARAMS');
});

test('a modern request carries the version and the client capabilities in _meta; client info is optional', () => {
  const version = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"';
  const capabilities = '"io.modelcontextprotocol/clientCapabilities":{}';
  const discover = (params: string): string => request('server/discover', params);
  const both = 'io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities';
  assert.deepEqual(fault(discover(''), modern('server/discover')), {
    code: 'INVALID_PARAMS',
    detail: `params._meta needs ${both} in revision 2026-07-28.`,
  });
  for (const inner of [
    '',
    version,
    capabilities,
    `${version},"io.modelcontextprotocol/clientCapabilities":null`,
    '"io.modelcontextprotocol/clientInfo":{}',
  ]) {
    assert.equal(fault(discover(`"_meta":{${inner}}`), modern('server/discover')).code, 'INVALID_PARAMS', inner);
  }
  assert.equal(admitted(discover(`"_meta":{${version},${capabilities}}`), modern('server/discover')).method, 'server/discover');
  assert.equal(
    admitted(discover(`"_meta":{${version},${capabilities},"progressToken":"t"}`), modern('server/discover')).progress_token,
    '"t"',
  );
});

test('header and body name one revision', () => {
  const list = (version: string): string => request('tools/list', meta(version));
  assert.equal(
    fault(list('2025-11-25'), modern('tools/list')).detail,
    'MCP-Protocol-Version is 2026-07-28, but params._meta says "2025-11-25".',
  );
  assert.equal(fault(list('v999.0.0'), modern('tools/list')).code, 'HEADER_MISMATCH');
  assert.equal(fault(list('2026-07-28'), legacy('2025-11-25')).code, 'HEADER_MISMATCH');
  assert.equal(fault(list('2026-07-28'), undeclared).detail, 'MCP-Protocol-Version is missing, but params._meta says 2026-07-28.');
  assert.equal(fault(list('v999.0.0'), legacy('2025-11-25')).code, 'HEADER_MISMATCH');
  assert.deepEqual(fault(list('v999.0.0'), undeclared), {
    code: 'UNSUPPORTED_VERSION',
    detail: 'Revision "v999.0.0" is not served here.',
    data: { supported: ['2026-07-28'], requested: 'v999.0.0' },
  });
  assert.equal(admitted(list('2025-11-25'), legacy('2025-11-25')).era, 'legacy');
  assert.equal(admitted(list('2025-11-25'), undeclared).revision, '2025-03-26');
});

test('a deferred unknown version is refused whatever the body is', () => {
  const claims = { ...modern(), revision: 'v999' };
  for (const text of [
    request('tools/list', meta('v999')),
    request('tools/list', META),
    INIT,
    notification('x'),
    '{"jsonrpc":"2.0","id":1,"result":{}}',
  ]) {
    assert.deepEqual(fault(text, claims).data, { supported: ['2026-07-28'], requested: 'v999' });
  }
});

test('initialize is legacy, and any version it asks for is the upstream’s to negotiate', () => {
  for (const version of ['2025-11-25', '2099-01-01', '2026-07-28', 'x']) {
    const text = request('initialize', `"protocolVersion":"${version}","capabilities":{}`);
    assert.equal(admitted(text, undeclared).era, 'legacy');
    assert.equal(admitted(text, legacy('2025-11-25')).method, 'initialize');
  }
  assert.equal(fault(INIT, modern('initialize')).code, 'HEADER_MISMATCH');
  const asked_modern = fault(request('initialize', META), modern('initialize'));
  assert.deepEqual([asked_modern.code, asked_modern.data], ['METHOD_NOT_FOUND', { supported: ['2026-07-28'] }]);
  assert.equal(fault(request('initialize', META), undeclared).code, 'HEADER_MISMATCH');
});

test('notifications of every name are admitted; a client’s response object in legacy revisions only', () => {
  for (const method of ['notifications/initialized', 'notifications/cancelled', 'notifications/x']) {
    const { kind, id } = admitted(notification(method), undeclared);
    assert.deepEqual([kind, id], ['notification', undefined]);
    assert.equal(admitted(notification(method), modern(method)).era, 'modern');
    assert.equal(admitted(notification(method, META), modern()).era, 'modern');
    assert.equal(fault(notification(method), modern('notifications/y')).code, 'HEADER_MISMATCH');
    assert.equal(fault(notification(method, meta('2025-11-25')), modern(method)).code, 'HEADER_MISMATCH');
  }
  const response = '{"jsonrpc":"2.0","id":"e1","result":{"action":"accept","content":{}}}';
  const { kind, id, method, name } = admitted(response, legacy('2025-11-25'));
  assert.deepEqual([kind, id, method, name], ['response', '"e1"', '', undefined]);
  assert.equal(fault(response, modern('tools/list')).code, 'INVALID_REQUEST');
});

test('what a client wrote is echoed in part and in visible ASCII', () => {
  const { detail } = fault(request('tools/call', `"name":"é\\u001b[31m${'x'.repeat(200)}",${META}`), modern('tools/call', 'y'.repeat(100)));
  assert.equal(detail, `Mcp-Name is "${'y'.repeat(64)}…", but params.name is "??[31m${'x'.repeat(58)}…".`);
});

test('a task is what both header and body name: another one, or one in the header alone, is a mismatch', () => {
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const task = request(method, `"taskId":"größe",${META}`);
    assert.equal(admitted(task, modern(method, 'größe')).name, 'größe');
    assert.equal(admitted(task, modern(method)).name, 'größe');
    assert.equal(fault(task, modern(method, 'WRONG')).detail, 'Mcp-Name is "WRONG", but params.taskId is "gr??e".');
    for (const other of ['', '"taskId":7,', '"name":"t","uri":"t",']) {
      assert.equal(fault(request(method, `${other}${META}`), modern(method, 't')).code, 'HEADER_MISMATCH', other);
      assert.equal(admitted(request(method, `${other}${META}`), modern(method)).name, undefined, 'what it lacks is the server’s to say');
    }
    assert.equal(admitted(request(method, '"taskId":"t"'), legacy('2025-11-25')).name, 't');
  }
  assert.equal(admitted(request('tasks/result', '"taskId":"t"'), legacy('2025-11-25')).name, 't');
});
