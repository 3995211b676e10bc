import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Question } from '../../src/explain/question.js';
import { KEY, openExplainBench, PUBLIC, told } from '../support/explain-bench.js';

const { issuer, config, ask, close } = await openExplainBench();
const keyed = (question: Question): Question => ({ ...question, headers: [['x-api-key', KEY], ...(question.headers ?? [])] });

describe('explain', () => {
  after(close);

  it('a path that leads nowhere is told with the routes there are', async () => {
    const { routes } = config() as { routes: { path: string }[] };
    const some = { routes: routes.filter(({ path }) => path !== '/'), gates: { ...(config().gates as object) } };
    const explanation = await ask({ path: '/mcp/' }, some);
    assert.deepEqual(told(explanation), ['route refuse NO_ROUTE', 'refused 404 NO_ROUTE']);
    assert.match(explanation.remedy, /^The routes are \/mcp, \/keyed\/mcp, .*\/ui\.$/);
  });

  it('knows the paths of HTTP+SSE, each with its method', async () => {
    const { routes } = config() as { routes: { path: string }[] };
    const parts = {
      routes: routes
        .filter(({ path }) => path !== '/')
        .map((route) => (route.path === '/mcp' ? { ...route, gates: [], public: true, sse: true } : route)),
    };
    const steps = async (path: string, http_method: string): Promise<unknown> =>
      told(await ask({ path, http_method, revision: '2025-11-25' }, parts)).at(-1);
    assert.equal(await steps('/mcp/sse', 'GET'), 'admitted 0');
    assert.equal(await steps('/mcp/sse/message', 'GET'), 'refused 405 METHOD_NOT_ALLOWED');
    assert.equal(await steps('/mcp/sse/other', 'GET'), 'refused 404 NO_ROUTE');
  });

  it('each kind of answer of a gate is a step, the first that does not pass is the last', async () => {
    assert.deepEqual(told(await ask({ path: '/mcp', token: issuer.token, tool: 'read_file' })), [
      'route ok',
      'edge pass',
      'token identify',
      'reads pass',
      'admitted 0',
    ]);
    assert.deepEqual(told(await ask({ path: '/mcp', address: '203.0.113.9' })), [
      'route ok',
      'edge refuse IP_NOT_ALLOWED',
      'refused 403 IP_NOT_ALLOWED',
    ]);
    assert.deepEqual(told(await ask(keyed({ path: '/late/mcp' }))).slice(-2), ['late timeout GATE_TIMEOUT', 'refused 504 GATE_TIMEOUT']);
    assert.deepEqual(told(await ask(keyed({ path: '/broken/mcp' }))).slice(-2), ['broken failed GATE_FAILED', 'refused 500 GATE_FAILED']);
    assert.deepEqual(told(await ask({ path: '/page', http_method: 'GET' })), ['route ok', 'edge pass', 'page serve', 'served 200']);
  });

  it('who was identified is told, with scopes, expiry and the names of facts', async () => {
    const { identity, facts, why } = await ask({ path: '/mcp', token: issuer.token, tool: 'read_file' });
    assert.deepEqual([identity?.issuer, identity?.scopes, facts.includes('certificate')], [issuer.issuer, ['mcp.read'], false]);
    assert.ok((identity?.expires_at_ms ?? 0) > Date.now());
    assert.equal(why, `Every gate of ${PUBLIC}/mcp passed; the caller is ${issuer.issuer}#${identity?.principal}.`);
  });

  it('a refusal is told with its challenge and what to do', async () => {
    const explanation = await ask({ path: '/mcp' });
    assert.deepEqual(told(explanation).at(-1), 'refused 401 TOKEN_REQUIRED');
    assert.equal(
      explanation.headers['www-authenticate'],
      `Bearer resource_metadata="${PUBLIC}/.well-known/oauth-protected-resource/mcp", scope="mcp.read"`,
    );
    assert.ok(explanation.remedy.length > 20);
  });

  it('the second look at legacy messages is a step of its own; GET and DELETE have none', async () => {
    const legacyCall: Question = { path: '/keyed/mcp', revision: '2025-11-25', tool: 'write_file' };
    assert.deepEqual(told(await ask(keyed(legacyCall))), [
      'route ok',
      'edge pass',
      'key identify',
      'reads pass',
      'reads (call) refuse TOOL_NOT_ALLOWED',
      'refused 403 TOOL_NOT_ALLOWED',
    ]);
    assert.deepEqual(told(await ask(keyed({ ...legacyCall, tool: 'read_file' }))).slice(-2), ['reads (call) pass', 'admitted 0']);
    assert.deepEqual(told(await ask(keyed({ ...legacyCall, revision: '2026-07-28' }))).slice(-2), [
      'reads refuse TOOL_NOT_ALLOWED',
      'refused 403 TOOL_NOT_ALLOWED',
    ]);
    for (const http_method of ['GET', 'DELETE'])
      assert.deepEqual(told(await ask(keyed({ ...legacyCall, http_method }))).slice(-2), ['reads pass', 'admitted 0'], http_method);
  });

  it('a plain HTTP prefix has what lies below it, without MCP rules; the longest one wins', async () => {
    assert.deepEqual(told(await ask({ path: '/ui/page', http_method: 'PUT' })), ['route ok', 'edge pass', 'admitted 0']);
    assert.deepEqual(told(await ask({ path: '/uix', http_method: 'GET', revision: 'nonsense' })).slice(-2), [
      'key refuse API_KEY_MISSING',
      'refused 401 API_KEY_MISSING',
    ]);
    assert.deepEqual(told(await ask({ path: '/ui/../mcp' })).at(-1), 'refused 404 NO_ROUTE');
  });

  it('a path that a gate serves needs no credential, whatever prefix lies over it; the open listener gates still decide', async () => {
    const path = '/.well-known/oauth-protected-resource/mcp';
    assert.deepEqual(told(await ask({ path, http_method: 'GET' })), ['route ok', 'edge pass', 'token serve', 'served 200']);
    assert.deepEqual(told(await ask({ path, http_method: 'GET', address: '203.0.113.9' })).at(-1), 'refused 403 IP_NOT_ALLOWED');
    assert.deepEqual(told(await ask({ path, http_method: 'POST' })).at(-1), 'refused 405 METHOD_NOT_ALLOWED');
  });

  it('the address is the one that a trusted proxy tells, and its own from anybody else', async () => {
    const of = async (address: string, via: string) => told(await ask({ path: '/ui', address, via })).at(-1);
    assert.equal(await of('192.0.2.7', '10.0.0.1'), 'admitted 0');
    assert.equal(await of('::ffff:192.0.2.7', '::ffff:10.0.0.1'), 'admitted 0');
    assert.equal(await of('203.0.113.9', '10.0.0.1'), 'refused 403 IP_NOT_ALLOWED');
    assert.equal(await of('192.0.2.7', '10.0.0.2'), 'refused 403 IP_NOT_ALLOWED');
  });

  it('holds no token, key or secret, admitted or refused', async () => {
    const [head = '', payload = '', signature = ''] = issuer.token.split('.');
    for (const token of [issuer.token, `${issuer.token}x`, `${head}.${payload}`, `${issuer.token} ${issuer.token}`]) {
      const headers = [
        ['x-api-key', KEY],
        ['cookie', 'sid=cookie-5309'],
      ] as const;
      for (const path of ['/mcp', '/keyed/mcp', '/nowhere', '/late/mcp', '/broken/mcp']) {
        const text = JSON.stringify(await ask({ path, token, headers }));
        for (const secret of [head, payload, signature, KEY, 'cookie-5309'])
          assert.equal(text.includes(secret), false, `${path} ${secret}`);
      }
    }
  });
});
