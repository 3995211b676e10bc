// Every request that the door let in is counted once, also when it ends inside the gates, in its body or in a plain HTTP route.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { folderWith } from '../support/config-files.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { rawExchange } from '../support/raw.js';
import { type Running, running } from '../support/running.js';
import { send, tool, whole } from '../support/send.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

let mcp: Upstream;
let ui: Upstream;
let up: Running;
let remove: () => void;

before(async () => {
  mcp = await startMcpUpstream();
  ui = await startUpstream((request, response) => {
    if (request.url === '/broken') return void response.destroy();
    if (request.url === '/slow') return void setTimeout(() => response.end('slow'), 600);
    response.write('the beginning');
    if (request.url !== '/open') response.end();
  });
  const files = folderWith({
    'stuck.mjs':
      "export const gate = { name: 'stuck', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, open: () => ({ decide: () => new Promise(() => undefined) }) };\n",
    'busy.mjs':
      "export const gate = { name: 'busy', contract: 1, options: { type: 'object', properties: {} }, authorizes: true, open: () => ({ decide() { const end = performance.now() + 60; while (performance.now() < end); return { kind: 'pass' }; } }) };\n",
  });
  remove = files.remove;
  const init = { folder: files.folder };
  up = await running(
    {
      listener: { chunked_requests: 'accept', limits: { max_body_bytes: 2000 } },
      gates: { stuck: { use: 'file:./stuck.mjs' }, busy: { use: 'file:./busy.mjs' } },
      runtimes: { server: { kind: 'proxied', url: `${mcp.url}/mcp` }, ui: { kind: 'http', url: ui.url } },
      routes: [
        { path: '/mcp', public: true, runtime: 'server' },
        { path: '/stuck', gates: ['stuck'], runtime: 'server' },
        { path: '/busy', gates: ['busy'], runtime: 'server' },
        { path: '/ui', public: true, runtime: 'ui' },
      ],
    },
    init,
  );
});

after(async () => {
  await up.close();
  remove();
  await Promise.all([mcp.close(), ui.close()]);
});

/** The requests counted for a route so far, by outcome. */
async function outcomes(route: string): Promise<Readonly<Record<string, number>>> {
  const all = ['ok', 'tool_error', 'rpc_error', 'refused', 'timeout', 'cancelled', 'upstream_error', 'overloaded', 'other'];
  const counts = await Promise.all(all.map((outcome) => up.metric('portcullis_requests_total', { route, outcome })));
  return Object.fromEntries(all.flatMap((outcome, i) => (counts[i] === 0 ? [] : [[outcome, counts[i] ?? 0]])));
}

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

describe('a gate that burns CPU', () => {
  it('shows in the time of the gate, and of that gate alone', async () => {
    assert.equal((await send(`${up.url}/busy`, tool('echo'))).status, 200);
    const seconds = await up.metric('portcullis_gate_duration_seconds_sum', { gate: 'busy' });
    assert.ok(seconds >= 0.05 && seconds < 5, `${seconds}`);
    assert.equal(await up.metric('portcullis_gate_duration_seconds_count', { gate: 'stuck' }), 0);
  });
});

describe('counts of requests', () => {
  it('a client that leaves while a gate decides was cancelled', async () => {
    const port = Number(new URL(up.url).port);
    const socket = connect(port, '127.0.0.1');
    socket.write(`${HEAD.replace('/mcp', '/stuck')}Content-Length: 2\r\n\r\n{}`);
    await until('the gate is asked', async () => (await up.metric('portcullis_connections', { state: 'gate' })) === 1);
    socket.destroy();
    await until('it is counted', async () => (await outcomes('/stuck')).cancelled === 1);
    assert.deepEqual(await outcomes('/stuck'), { cancelled: 1 });
    assert.equal(await up.metric('portcullis_gate_decisions_total', { gate: 'stuck', code: 'CLIENT_LEFT' }), 1);
  });

  it('a body that grows too large is refused, one that never comes whole is cancelled, one that is no JSON refused', async () => {
    const port = Number(new URL(up.url).port);
    const chunk = `${(1500).toString(16)}\r\n${' '.repeat(1500)}\r\n`;
    const large = await rawExchange(port, [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, chunk, chunk, chunk]);
    assert.deepEqual([large.statuses, large.end], [[413], 'closed']);
    const socket = connect(port, '127.0.0.1');
    socket.write(`${HEAD}Content-Length: 100\r\n\r\n{`);
    await until('the body is awaited', async () => (await up.metric('portcullis_connections', { state: 'body' })) === 1);
    socket.destroy();
    await until('it is counted', async () => (await outcomes('/mcp')).cancelled === 1);
    assert.equal((await whole(`${up.url}/mcp`, { ...tool('echo'), body: 'no' })).status, 400);
    assert.equal((await whole(`${up.url}/mcp`, tool('echo'))).status, 200);
    assert.deepEqual(await outcomes('/mcp'), { ok: 1, refused: 2, cancelled: 1 });
  });

  it('a plain HTTP route tells ok, upstream errors and clients that left apart; its time is not ours, and it is no MCP operation', async () => {
    const operations = await up.metric('mcp_server_operation_duration_seconds_count');
    assert.equal((await whole(`${up.url}/ui/page`)).text, 'the beginning');
    assert.equal((await whole(`${up.url}/ui/broken`)).status, 502);
    assert.equal((await whole(`${up.url}/ui/slow`)).text, 'slow');
    const open = await send(`${up.url}/ui/open`);
    await open.shows(/the beginning/);
    open.leave();
    await until('it is counted', async () => (await outcomes('/ui')).cancelled === 1);
    assert.deepEqual(await outcomes('/ui'), { ok: 2, upstream_error: 1, cancelled: 1 });
    const [all, ours] = [
      await up.metric('portcullis_request_duration_seconds_sum', { route: '/ui', outcome: 'ok' }),
      await up.metric('portcullis_overhead_seconds_sum', { route: '/ui' }),
    ];
    assert.ok(all >= 0.6 && ours < 0.5, `${all} s in all, ${ours} s ours`);
    assert.equal(await up.metric('mcp_server_operation_duration_seconds_count'), operations);
    assert.equal(await up.metric('portcullis_requests_total', { route: '/ui', mcp_method: 'none' }), 4);
  });
});
