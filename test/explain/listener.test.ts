import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Question } from '../../src/explain/question.js';
import { KEY, openExplainBench } from '../support/explain-bench.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { running } from '../support/running.js';
import { legacy, modern, type SendOptions, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const { issuer, files, config, ask, close } = await openExplainBench();

describe('explain and the listener', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startMcpUpstream();
  });
  after(async () => {
    await upstream.close();
    await close();
  });

  it('say the same about the same request', async () => {
    const parts = { runtimes: { server: { kind: 'proxied', url: `${upstream.url}/mcp` }, ui: { kind: 'http', url: upstream.url } } };
    const { listener, ...rest } = config(parts);
    const up = await running({ ...rest, listener: { ...(listener as object), trusted_proxies: [] } }, { folder: files.folder });
    const field = (name: string, value: string) => ({ headers: [[name, value]] as const });
    const get: SendOptions = { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25' } };
    const cases: readonly (readonly [Question, SendOptions])[] = [
      [{ path: '/mcp' }, modern('tools/list')],
      [{ path: '/mcp', token: issuer.token }, modern('tools/list')],
      [{ path: '/mcp', token: issuer.token, tool: 'read_x' }, tool('read_x')],
      [{ path: '/mcp', token: issuer.token, tool: 'x' }, tool('x')],
      [
        { path: '/mcp', token: issuer.token, tool: 'x', revision: '2025-06-18' },
        withHeaders(legacy('tools/call', { name: 'x' }), { 'mcp-protocol-version': '2025-06-18' }),
      ],
      [{ path: '/mcp', token: 'nonsense' }, modern('tools/list')],
      [{ path: '/mcp', revision: '2099-01-01' }, withHeaders(legacy('tools/list'), { 'mcp-protocol-version': '2099-01-01' })],
      [
        { path: '/mcp', token: issuer.token, revision: '2099-01-01' },
        withHeaders(legacy('tools/list'), { 'mcp-protocol-version': '2099-01-01' }),
      ],
      [{ path: '/mcp', token: issuer.token, revision: 'a, b' }, withHeaders(legacy('tools/list'), { 'mcp-protocol-version': 'a, b' })],
      [{ path: '/mcp', http_method: 'GET', revision: '2025-11-25' }, get],
      [
        { path: '/mcp', http_method: 'GET' },
        { ...get, headers: { ...get.headers, 'mcp-protocol-version': '2026-07-28' } },
      ],
      [{ path: '/mcp', http_method: 'PUT' }, { method: 'PUT' }],
      [{ path: '/mcp', http_method: 'OPTIONS' }, { method: 'OPTIONS' }],
      [{ path: '/mcp', ...field('origin', 'https://evil.test') }, modern('tools/list')],
      [{ path: '/mcp', ...field('content-encoding', 'gzip') }, modern('tools/list')],
      [{ path: '/keyed/mcp', ...field('x-api-key', KEY) }, modern('tools/list')],
      [{ path: '/keyed/mcp', ...field('x-api-key', 'wrong') }, modern('tools/list')],
      [{ path: '/broken/mcp', ...field('x-api-key', KEY) }, modern('tools/list')],
      [{ path: '/late/mcp', ...field('x-api-key', KEY) }, modern('tools/list')],
      [{ path: '/paged/mcp' }, modern('tools/list')],
      [{ path: '/page', http_method: 'GET' }, {}],
      [{ path: '/page', http_method: 'POST' }, modern('tools/list')],
      [{ path: '/ui/..//mcp' }, modern('tools/list')],
      [{ path: '/other', http_method: 'GET' }, {}],
      [{ path: '/.well-known/oauth-protected-resource/mcp', http_method: 'GET' }, {}],
    ];
    try {
      for (const [question, options] of cases) {
        const { outcome, status, code } = await ask(question, parts);
        const extra = Object.fromEntries(question.headers ?? []);
        const authorization = question.token === undefined ? {} : { authorization: `Bearer ${question.token}` };
        const answer = await whole(up.url + question.path, withHeaders(options, { ...extra, ...authorization }));
        const refusal =
          answer.headers['content-type'] === 'application/json' && answer.status >= 400 ? JSON.parse(answer.text).error.data.code : '';
        const seen = answer.status < 400 ? 'passed' : `${answer.status} ${refusal}`;
        assert.equal(outcome === 'refused' ? `${status} ${code}` : 'passed', seen, JSON.stringify(question));
      }
    } finally {
      await up.close();
    }
  });
});
