// A server behind one URL is killed and comes back as one of the other protocol era, again and again, while clients of both eras call it: no client ever gets
// another's answer, and nothing of the bridge is left behind. CHAOS_SECONDS sets how long; 30 by default.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../support/e2e/child.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { closeServer, listen } from '../support/upstream.js';

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 30);
const CLIENTS = 40;
const built = (name: string): string => repositoryPath(`dist/test/e2e/sdks/servers/${name}.js`);
const ERAS = [
  [built('legacy'), 'http'],
  [built('modern'), 'reject'],
  [built('modern'), 'stateless'],
] as const;

let port: string;
let server: Child;
let gateway: RunningGateway;

before(async () => {
  const probe = createServer();
  port = String(await listen(probe));
  await closeServer(probe, new Set());
  await come(0);
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
runtimes:
  server:
    kind: proxied
    url: "http://127.0.0.1:${port}/mcp"
    bridge: { session_idle_ms: 500, era_ttl_ms: 500 }
routes: [{ path: /mcp, public: true, runtime: server }]
`);
});

after(async () => {
  assert.equal(await gateway?.stop(), 0);
  await server?.stop('SIGKILL');
});

async function come(era: number): Promise<void> {
  server = startChild([...(ERAS[era % ERAS.length] as (typeof ERAS)[number]), port]);
  await server.says(/listening on/);
}

/** What a POST came to: the status, the headers, and the last message. */
async function post(body: object, headers: Readonly<Record<string, string>>) {
  const fields = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  const response = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: fields,
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });
  const text = await response.text();
  const last = text.startsWith('{') ? text : [...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1];
  return { status: response.status, session: response.headers.get('mcp-session-id'), message: last === undefined ? {} : JSON.parse(last) };
}

const ASKABLE = { elicitation: {}, roots: {} };

async function callModern(id: string, who: number): Promise<string | undefined> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'chaos', version: '1' },
    // Half of them can be asked, so that they need sessions of their own.
    'io.modelcontextprotocol/clientCapabilities': who % 4 === 0 ? ASKABLE : {},
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' };
  const { message } = await post({ id, method: 'tools/call', params: { name: 'echo', arguments: { text: id }, _meta: meta } }, headers);
  return message.id === id ? message.result?.content?.[0]?.text : undefined;
}

const sessions = new Map<number, string>();

async function callLegacy(id: string, who: number): Promise<string | undefined> {
  const version = { 'mcp-protocol-version': '2025-11-25' };
  if (!sessions.has(who)) {
    const params = { protocolVersion: '2025-11-25', capabilities: ASKABLE, clientInfo: { name: 'chaos', version: '1' } };
    const { session, message } = await post({ id: `${id} begins`, method: 'initialize', params }, {});
    if (session === null || message.result === undefined) return undefined;
    sessions.set(who, session);
    await post({ method: 'notifications/initialized' }, { ...version, 'mcp-session-id': session });
  }
  const own = { ...version, 'mcp-session-id': sessions.get(who) as string };
  const { status, message } = await post({ id, method: 'tools/call', params: { name: 'echo', arguments: { text: id } } }, own);
  if (status === 404 || status === 400) sessions.delete(who);
  return message.id === id ? message.result?.content?.[0]?.text : undefined;
}

describe('a server that changes its era under load', () => {
  it('crosses no answers and leaves nothing behind', { timeout: (SECONDS + 60) * 1000 }, async () => {
    const ends = performance.now() + SECONDS * 1000;
    const answered = { modern: 0, legacy: 0 };
    const crossed: string[] = [];
    const client = async (who: number): Promise<void> => {
      const era = who % 2 === 0 ? 'modern' : 'legacy';
      for (let n = 0; performance.now() < ends; n++) {
        const id = `${era} ${who} ${n}`;
        const text = await (era === 'modern' ? callModern(id, who) : callLegacy(id, who)).catch(() => undefined);
        if (text === id) answered[era] += 1;
        else if (text !== undefined) crossed.push(`${id}: ${text}`);
        await sleep(text === undefined ? 50 : 5);
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, who) => client(who));
    for (let era = 1; performance.now() < ends; era++) {
      await sleep(2_000);
      await server.stop('SIGKILL');
      await come(era);
    }
    await Promise.all(clients);
    assert.deepEqual(crossed, []);
    assert.ok(answered.modern > 100 && answered.legacy > 100, JSON.stringify(answered));
    for (const name of ['held_calls', 'bridge_sessions'] as const)
      await until(`no ${name}`, async () => (await gateway.metric(`portcullis_${name}`)) === 0, 20_000);
    for (const state of ['running', 'pending', 'queued'])
      await until(`none ${state}`, async () => (await gateway.metric('portcullis_upstream_connections', { state })) === 0, 20_000);
  });
});
