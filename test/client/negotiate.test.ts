import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClientError, type ConnectOptions, connect } from '../../src/client.js';
import { legacy, modern, type Reply, sendJson, startAnswers } from '../support/mcp-answers.js';

/** What came of a connection: what was agreed on, or the error; and the methods that the server heard. */
async function negotiated(reply: Reply, options: ConnectOptions = {}) {
  const server = await startAnswers(reply);
  try {
    const client = await connect({ http: `${server.url}/mcp` }, options).catch((error: ClientError) => error);
    const methods = server.messages.map((message) => message.method);
    if (client instanceof Error) return { error: client, methods };
    await client.close();
    const { era, revision, server_info } = client.server;
    return { agreed: `${era} ${revision} ${server_info?.name}`, methods };
  } finally {
    await server.close();
  }
}

/** Answers `server/discover` with this, and then as a legacy server. */
const first = (status: number, body: unknown): Reply =>
  legacy((message, _request, response) => {
    if (message.method !== 'server/discover') return undefined;
    if (body === undefined) response.writeHead(status).end();
    else sendJson(response, status, body === Object(body) ? { jsonrpc: '2.0', id: message.id, ...(body as object) } : body);
    return undefined;
  });
const rpc = (code: number, data?: object) => ({ error: { code, message: 'no', ...(data === undefined ? {} : { data }) } });
const HANDSHAKE = ['server/discover', 'initialize', 'notifications/initialized'];

describe('era negotiation over HTTP', () => {
  it('a modern server is asked once', async () => {
    assert.deepEqual(await negotiated(modern()), { agreed: 'modern 2026-07-28 new', methods: ['server/discover'] });
    assert.deepEqual((await negotiated(modern(), { era: 'modern' })).methods, ['server/discover']);
  });

  it('whatever is no modern answer means the handshake', async () => {
    for (const [name, reply] of Object.entries({
      'a 400 with a session error': legacy(),
      'a 400 without a body': first(400, undefined),
      'a 400 of text': first(400, 'Bad Request'),
      'a 404 without a body': first(404, undefined),
      'an unknown method': first(200, rpc(-32601)),
      'an unknown method, 404': first(404, rpc(-32601)),
      'invalid params': first(400, rpc(-32602)),
      'an error of its own': first(200, rpc(-32000)),
      'a 405': first(405, undefined),
      'a crash': first(500, undefined),
      'a result without versions': first(200, { result: {} }),
      'another revision and a legacy one': first(400, rpc(-32022, { supported: ['2099-01-01', '2025-11-25'] })),
    })) {
      const { agreed, methods } = await negotiated(reply);
      assert.deepEqual([agreed, methods], ['legacy 2025-11-25 old', HANDSHAKE], name);
    }
  });

  it('a refusal of the caller, and what says nothing of the server, is told at once', async () => {
    const challenge = 'Bearer error="invalid_token", resource_metadata="https://a.example/.well-known/oauth-protected-resource"';
    const refused: Reply = (message, _request, response) => {
      sendJson(
        response,
        401,
        { jsonrpc: '2.0', id: message.id, error: { code: -32600, message: 'A token is needed.' } },
        { 'www-authenticate': challenge },
      );
      return undefined;
    };
    const { error, methods } = await negotiated(refused);
    assert.deepEqual([error?.code, error?.status, error?.challenge, methods], ['UNAUTHORIZED', 401, challenge, ['server/discover']]);
    for (const [status, code] of [
      [403, 'FORBIDDEN'],
      [307, 'REFUSED'],
      [429, 'REFUSED'],
      [502, 'REFUSED'],
      [503, 'REFUSED'],
    ] as const) {
      const answer = await negotiated(first(status, undefined));
      assert.deepEqual([answer.error?.code, answer.methods], [code, ['server/discover']], String(status));
    }
  });

  it('a modern error stays modern', async () => {
    for (const code of [-32020, -32021]) {
      const { error, methods } = await negotiated(first(400, rpc(code)));
      assert.deepEqual([error?.code, error?.rpc?.code, methods], ['RPC_ERROR', code, ['server/discover']]);
    }
    const { error, methods } = await negotiated(first(400, rpc(-32022, { supported: ['2099-01-01'] })));
    assert.equal(error?.code, 'NO_COMMON_VERSION');
    assert.equal(error?.message, 'the server speaks 2099-01-01; this client 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05');
    assert.deepEqual(methods, ['server/discover']);
  });

  it('a server that lists the version which it refused is asked once more', async () => {
    let refusals = 1;
    const reply = modern((message) => {
      if (message.method !== 'server/discover' || refusals-- <= 0) return undefined;
      return { error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } } };
    });
    const twice = ['server/discover', 'server/discover'];
    assert.deepEqual((await negotiated(reply)).methods, twice);
    refusals = 9;
    const { error, methods } = await negotiated(reply);
    assert.deepEqual([error?.rpc?.code, methods], [-32022, twice]);
  });

  it('an era that was asked for is not left', async () => {
    const { error, methods } = await negotiated(legacy(), { era: 'modern' });
    assert.deepEqual([error?.code, methods], ['NO_COMMON_VERSION', ['server/discover']]);
    assert.match(
      error?.message ?? '',
      /^the server does not speak 2026-07-28: the server answered 400: Bad Request: no session; try the legacy era$/,
    );
    assert.deepEqual((await negotiated(legacy(), { era: 'legacy' })).methods, ['initialize', 'notifications/initialized']);
  });

  it('an older legacy revision is taken, an unknown one is not', async () => {
    assert.equal((await negotiated(legacy(undefined, '2025-03-26'))).agreed, 'legacy 2025-03-26 old');
    const { error } = await negotiated(legacy(undefined, '1999-01-01'));
    assert.deepEqual([error?.code, error?.message.startsWith('the server speaks 1999-01-01')], ['NO_COMMON_VERSION', true]);
  });

  it('a server that is nothing of both is told with both answers', async () => {
    const { error } = await negotiated((_message, _request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '2' }).end('hi');
      return undefined;
    });
    const html = 'the server answered 200 with content type "text/html", neither JSON nor an event stream: is this an MCP endpoint?';
    assert.equal(error?.message, `${html} (to initialize; before, to server/discover: ${html})`);
    const nobody = await connect({ http: 'http://127.0.0.1:1/mcp' }).catch((failed: ClientError) => failed);
    assert.ok(nobody instanceof Error);
    assert.deepEqual(
      [nobody.code, nobody.message],
      ['UNREACHABLE', 'cannot connect to http://127.0.0.1:1: nothing listens there (ECONNREFUSED)'],
    );
  });

  it('what cannot be is refused before anything is sent', async () => {
    const http = 'http://127.0.0.1:1/mcp';
    await assert.rejects(connect({ http }, { timeout_ms: 0 }), new RangeError('timeout_ms must be a positive integer, not 0'));
    await assert.rejects(connect({ http }, { era: 'new' as 'auto' }), new TypeError('era must be auto, modern or legacy, not new'));
    await assert.rejects(connect({ http: 'mcp' }), new TypeError('"mcp" is not a URL'));
    await assert.rejects(connect({ http: 'ftp://a/' }), new TypeError('the URL of an MCP server begins with http:// or https://'));
    await assert.rejects(connect({ http: 'http://a:b@c/' }), /must not hold a user name or password/);
    await assert.rejects(connect({ http, headers: { 'Mcp-Name': 'x' } }), new TypeError('headers: Mcp-Name is set by the protocol'));
    await assert.rejects(
      connect({ http, headers: { x: 'a\r\nb' } }),
      new TypeError('headers: "x" cannot be a header field with this value'),
    );
    await assert.rejects(connect({ http, bearer: 'a b' }), /the bearer token has characters/);
  });
});
