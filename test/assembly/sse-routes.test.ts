import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createGateway, type Gateway } from '../../src/index.js';
import { makeLog, type TestLog } from '../../src/testing.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const METHODS = '[initialize, "notifications/*", ping, "*/list"]';

const yaml = (extra = ''): string => `
listener: { port: 0 }
ops: { port: 0 }
reload: { watch: false }
telemetry: { log: { access: true } }
gates:
  lists: { use: method-allow, options: { methods: ${METHODS} } }
  shut: { use: ip-allow, options: { allow: [10.0.0.1] } }
runtimes: { server: { kind: hosted, module: "${repositoryPath('dist/test/support/e2e/hosted-server.js')}" } }
routes:
  - { path: /a/mcp, public: true, gates: [lists], runtime: server, sse: true, public_url: "https://mcp.example.com/x/a/mcp" }
  - { path: /shut, public: true, gates: [shut], runtime: server, sse: true }
${extra}`;

describe('routes with sse: true', () => {
  let folder = '';
  let file = '';
  let gateway: Gateway;
  let log: TestLog;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portcullis-sse-'));
    file = join(folder, 'a.yaml');
    writeFileSync(file, yaml());
    log = makeLog();
    gateway = createGateway(file, { log });
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    rmSync(folder, { recursive: true });
  });

  const post = (path: string, message: object): Promise<Response> =>
    fetch(gateway.url + path, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) });

  /** A stream, what came on it so far, and where its messages go. */
  const open = async () => {
    const stop = new AbortController();
    const response = await fetch(`${gateway.url}/a/mcp/sse`, { headers: { accept: 'text/event-stream' }, signal: stop.signal });
    assert.equal(response.status, 200);
    const heard = { text: '', over: false };
    void (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) heard.text += Buffer.from(chunk).toString();
    })()
      .catch(() => undefined)
      .finally(() => (heard.over = true));
    await until('the endpoint', () => heard.text.includes('\n\n'));
    const [, endpoint = ''] = /^event: endpoint\ndata: (\S+)\n\n/.exec(heard.text) ?? [];
    return { heard, stop: () => stop.abort(), endpoint };
  };

  it('the endpoint is where clients see it; the gates run on both requests and judge each message; no log line has the id', async () => {
    const { heard, stop, endpoint } = await open();
    assert.match(endpoint, /^\/x\/a\/mcp\/sse\/message\?id=/);
    const path = endpoint.slice(2);
    assert.equal((await post(path, { method: 'tools/list' })).status, 202);
    await until('the answer', () => heard.text.includes('"tools":'));
    const refused = await post(path, { method: 'tools/call', params: { name: 'test_simple_text' } });
    assert.deepEqual([refused.status, ((await refused.json()) as { id: number }).id], [403, 1]);
    const shut = await fetch(`${gateway.url}/shut/sse`, { headers: { accept: 'text/event-stream' } });
    assert.deepEqual([shut.status, (await post('/shut/sse/message?id=x', { method: 'ping' })).status], [403, 403]);
    stop();
    await until('the stream is over', async () => (await post(path, { method: 'ping' })).status === 404);
    const metrics = await (await fetch(`${gateway.ops_url}/metrics`)).text();
    assert.match(metrics, /portcullis_streams_closed_total\{route="\/a\/mcp",kind="get",reason="client"\} 1\n/);
    assert.ok(!metrics.includes('/sse'), 'paths of HTTP+SSE count as their route');
    const id = new URLSearchParams(endpoint.split('?')[1]).get('id') as string;
    assert.ok(log.lines.length > 3 && !JSON.stringify(log.lines).includes(id));
  });

  it('a stream survives a reload, and its messages meet the gates in force', async () => {
    const { heard, stop, endpoint } = await open();
    const path = endpoint.slice(2);
    writeFileSync(file, yaml('  - { path: /b, public: true, runtime: server }\n').replace('ping, ', ''));
    await gateway.reload();
    assert.equal((await post(path, { method: 'prompts/list' })).status, 202);
    await until('the answer', () => heard.text.includes('"prompts":'));
    assert.equal((await post(path, { method: 'ping' })).status, 403);
    stop();
  });

  it('a drain ends the stream, and opens none', async () => {
    const { heard } = await open();
    await gateway.drain();
    assert.ok(heard.over);
  });
});
