import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forwardedIdentity } from '../../../src/runtime/shared/forwarded-identity.js';
import { fieldLines, fixedHeads, requestHeaders } from '../../../src/runtime/shared/request-headers.js';
import { checkStaticHeaders } from '../../../src/runtime/shared/static-headers.js';
import { legacyBare, legacyCall, modernCall } from '../../support/proxied-bench.js';

describe('upstream request headers', () => {
  it('what no client shapes is written once: request line, Host, own fields and static ones', () => {
    const { post, get, delete: end } = fixedHeads('up.internal:8080', '/mcp?a=1', { 'X-Api-Key': 'k' });
    const own = 'accept-encoding: identity\r\nx-api-key: k\r\n';
    const start = (method: string): string => `${method} /mcp?a=1 HTTP/1.1\r\nhost: up.internal:8080\r\nconnection: keep-alive\r\n`;
    assert.equal(post, `${start('POST')}content-type: application/json\r\naccept: application/json, text/event-stream\r\n${own}`);
    assert.equal(get, `${start('GET')}accept: text/event-stream\r\n${own}`);
    assert.equal(end, `${start('DELETE')}accept: application/json, text/event-stream\r\n${own}`);
    assert.equal(fieldLines(['a', '1', 'b', '']), 'a: 1\r\nb: \r\n');
  });

  it('no credential, identity header or hop-by-hop field of the client goes upstream', () => {
    const headers = {
      Authorization: 'Bearer T',
      'Proxy-Authorization': 'Basic eA==',
      Cookie: 's=1',
      'X-Forwarded-Client-Cert': 'Hash=ab',
      'X-Forwarded-For': '10.0.0.1',
      'X-Forwarded-Host': 'evil.test',
      Forwarded: 'host=evil.test',
      'X-Api-Key': 'stolen',
      mcp_session_id: 's',
      mcp_name: 'x',
      Mcp_Param_Region: 'eu',
      Expect: '100-continue',
      Upgrade: 'h2c',
      TE: 'trailers',
      Host: 'mcp.example.com',
      Origin: 'https://app.example.com',
      'Accept-Encoding': 'gzip',
      'Content-Length': '3',
      'Transfer-Encoding': 'chunked',
    };
    const call = modernCall('tools/list', {}, { headers });
    assert.deepEqual(requestHeaders(call, undefined, undefined), ['mcp-protocol-version', '2026-07-28', 'mcp-method', 'tools/list']);
  });

  // requirement: HTTP-45
  it('passes the mirrored headers of a modern call as they were sent, parameters and trace context too', () => {
    const headers = {
      'Mcp-Name': '=?base64?Z3LDtsOfZQ==?=',
      'Mcp-Param-Region': 'us-west1',
      'Mcp-Param-Text': '=?base64?IHBhZGRlZCA=?=',
      'Mcp-Param-': 'odd',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: ['a=1', 'b=2'],
    };
    const call = modernCall('tools/call', { name: 'größe' }, { headers });
    assert.deepEqual(requestHeaders(call, undefined, undefined), [
      'mcp-protocol-version',
      '2026-07-28',
      'mcp-method',
      'tools/call',
      'mcp-name',
      '=?base64?Z3LDtsOfZQ==?=',
      'mcp-param-region',
      'us-west1',
      'mcp-param-text',
      '=?base64?IHBhZGRlZCA=?=',
      'mcp-param-',
      'odd',
      'traceparent',
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'tracestate',
      'a=1',
      'tracestate',
      'b=2',
    ]);
  });

  it('a legacy call carries its own version, session and parameters, no other modern headers; one without a version gets none', () => {
    const headers = { 'Mcp-Session-Id': 'sealed', 'Mcp-Method': 'tools/list', 'Mcp-Name': 'x', 'Mcp-Param-A': '1', 'Last-Event-ID': '7' };
    const call = legacyCall('tools/list', {}, { headers });
    assert.deepEqual(requestHeaders(call, 'upstream-session', undefined), [
      'mcp-session-id',
      'upstream-session',
      'mcp-protocol-version',
      '2025-11-25',
      'mcp-param-a',
      '1',
    ]);
    const silent = { ...call, head: { ...call.head, headers: { ...call.head.headers, raw: ['Mcp-Session-Id', 'stale'] } } };
    assert.deepEqual(requestHeaders(silent, undefined, undefined), []);
  });

  it('parameters go on with every POST of both eras, but for the name of the identity header; with no GET or DELETE', () => {
    const headers = { 'Mcp-Param-Owner': 'x', 'MCP-PARAM-WHO': 'forged' };
    const route = { forward_identity_header: 'mcp-param-who' };
    const kinds = [
      ['request', '1'],
      ['notification', undefined],
      ['response', '1'],
    ] as const;
    const sent = (call: ReturnType<typeof legacyCall>): string[] => requestHeaders(call, undefined, 'true identity');
    for (const [kind, id] of kinds) {
      for (const call of [legacyCall('tools/call', {}, { headers, route, over: { kind, id } }), modernCall('x', {}, { headers, route })]) {
        const fields = sent(call);
        assert.deepEqual([fields[fields.indexOf('mcp-param-owner') + 1], fields.includes('forged')], ['x', false], kind);
        assert.equal(fields.filter((name) => name === 'mcp-param-who').length, 1);
      }
    }
    for (const kind of ['get_stream', 'session_end'] as const)
      assert.equal(sent(legacyBare(kind, { headers, route })).includes('mcp-param-owner'), false);
  });

  it('Last-Event-ID goes with a legacy GET only', () => {
    const call = legacyBare('get_stream', { headers: { 'Last-Event-ID': '7' } });
    assert.deepEqual(requestHeaders(call, undefined, undefined), ['mcp-protocol-version', '2025-11-25', 'last-event-id', '7']);
    assert.equal(
      requestHeaders(modernCall('tools/list', {}, { headers: { 'Last-Event-ID': '7' } }), undefined, undefined).includes('last-event-id'),
      false,
    );
  });

  it('a repeated single field goes once, and a Connection field deletes nothing', () => {
    const call = modernCall(
      'tools/list',
      {},
      { headers: { traceparent: ['00-a', '00-b'], Connection: 'x-api-key, mcp-method, mcp-protocol-version' } },
    );
    assert.deepEqual(requestHeaders(call, undefined, undefined), [
      'mcp-protocol-version',
      '2026-07-28',
      'mcp-method',
      'tools/list',
      'traceparent',
      '00-a',
    ]);
  });

  it('the identity header says what the gates found, in ASCII, and replaces a copy by the client', () => {
    const identity = {
      principal: 'grüße\r\n',
      issuer: 'https://id.example.com',
      scopes: new Set(['a', 'b']),
      client: 'cli',
      expires_at_ms: 1_999,
      facts: {},
    };
    const value = forwardedIdentity(identity);
    assert.match(value, /^[A-Za-z0-9_-]+$/);
    assert.deepEqual(JSON.parse(Buffer.from(value, 'base64url').toString()), {
      iss: 'https://id.example.com',
      sub: 'grüße\r\n',
      client_id: 'cli',
      scope: 'a b',
      exp: 1,
    });
    const call = modernCall(
      'ping',
      {},
      { route: { forward_identity_header: 'mcp-param-who' }, headers: { 'Mcp-Param-Who': 'forged', 'X-Who': 'forged' } },
    );
    const list = requestHeaders(call, undefined, value);
    assert.deepEqual(list.slice(0, 2), ['mcp-param-who', value]);
    assert.equal(list.includes('forged'), false);
  });

  it('static headers that the gateway writes itself, or that are no fields, are refused by name and never by value', () => {
    const bad = { Host: 'x', 'content-length': '1', 'Mcp-Session-Id': 's', connection: 'close', 'a b': 'x', ok: 'top\r\nsecret' };
    assert.throws(
      () => checkStaticHeaders('files', bad),
      (error: Error) => {
        assert.deepEqual(
          error.message.split('\n').map((line) => line.trim()),
          [
            'runtimes.files.headers.Host: is written by the gateway itself and cannot be set',
            'runtimes.files.headers.content-length: is written by the gateway itself and cannot be set',
            'runtimes.files.headers.Mcp-Session-Id: is written by the gateway itself and cannot be set',
            'runtimes.files.headers.connection: is written by the gateway itself and cannot be set',
            'runtimes.files.headers.a b: is not a header name',
            'runtimes.files.headers.ok: the value must be printable ASCII',
          ],
        );
        return true;
      },
    );
    checkStaticHeaders('files', { Authorization: 'Bearer own', 'X-Api-Key': 'k' });
  });
});
