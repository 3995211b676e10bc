import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Running, running } from '../support/running.js';
import { modern, whole, withHeaders } from '../support/send.js';

describe('denials', () => {
  let gate: Running;
  before(async () => {
    gate = await running({
      runtimes: { up: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
      routes: [{ path: '/mcp', public: true, runtime: 'up' }],
    });
  });
  after(() => gate.close());

  const lines = (code: string) => gate.log.lines.filter((line) => line.fields.code === code);

  it('of an Origin name it in the log, cut', async () => {
    const origin = `https://evil.example/${'x'.repeat(300)}`;
    const { status, text } = await whole(`${gate.url}/mcp`, withHeaders(modern('tools/list'), { origin }));
    assert.equal(status, 403);
    assert.doesNotMatch(text, /evil/);
    const { detail } = lines('ORIGIN_NOT_ALLOWED')[0]?.fields ?? {};
    assert.equal(detail, `Origin: ${origin}`.slice(0, 200).concat('…'));
  });

  it('of other kinds have no such detail', async () => {
    await whole(`${gate.url}/nowhere`, modern('tools/list'));
    assert.ok(!Object.hasOwn(lines('NO_ROUTE')[0]?.fields ?? { detail: '' }, 'detail'));
  });

  it('of a path with a slash too many say so', async () => {
    const { status, text } = await whole(`${gate.url}/mcp/`, modern('tools/list'));
    assert.equal(status, 404);
    assert.match(text, /"message":"No route has this path\. There is one without a slash at the end\."/);
    assert.doesNotMatch((await whole(`${gate.url}/other/`, modern('tools/list'))).text, /slash/);
  });
});
