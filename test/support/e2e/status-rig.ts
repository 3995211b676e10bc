import { readdirSync, readFileSync } from 'node:fs';
import { type DemoIssuer, startDemoIssuer } from '../../../src/demo/issuer.js';
import { startMcpUpstream } from '../mcp-upstream.js';
import { repositoryPath } from '../repository.js';
import { INITIALIZE, legacy, modern, type Sent, send, tool, whole, withHeaders } from '../send.js';
import type { Upstream } from '../upstream.js';
import { freePort } from './everything-server.js';
import { type RunningGateway, startGateway } from './gateway.js';
import { until } from './until.js';

const PUBLIC_URL = 'https://mcp.example.com';
const FIXTURE = repositoryPath('dist/test/support/stdio/server.js');

/** A gateway with something of everything that the status page shows. */
export interface StatusRig {
  readonly gateway: RunningGateway;
  /** Good for `/files/mcp`. */
  readonly token: string;
  /** The same caller without the scope. */
  readonly poor_token: string;
  call(route: string, token?: string): Promise<Sent>;
  close(): Promise<void>;
}

/** Starts it, and sends calls that pass, calls that are refused in several ways, calls to an upstream that is gone, and streams that stay. */
export async function startStatusRig(): Promise<StatusRig> {
  const scopes = ['files.read', 'files.list'];
  const issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience: `${PUBLIC_URL}/files/mcp`, scopes });
  const upstream = await startMcpUpstream();
  const gateway = await startGateway(configOf(issuer, upstream, await freePort()));
  const { token } = issuer;
  const poor_token = await tokenOf(issuer, 'files.list');
  const call = (route: string, bearer?: string): Promise<Sent> => {
    const asked = tool('echo', { text: 'hello' });
    return whole(`${gateway.url}${route}`, bearer === undefined ? asked : withHeaders(asked, { authorization: `Bearer ${bearer}` }));
  };
  const streams = [await send(`${gateway.url}/clock/mcp`, modern('subscriptions/listen', { notifications: { toolsListChanged: true } }))];
  const session = (await whole(`${gateway.url}/clock/mcp`, INITIALIZE)).headers['mcp-session-id'] as string;
  const { method: _, body: __, ...get } = legacy('', {}, session);
  streams.push(await send(`${gateway.url}/clock/mcp`, get));
  await restartChild(gateway.pid);
  for (let i = 0; i < 34; i++) await call('/files/mcp', token);
  for (let i = 0; i < 8; i++) await call('/clock/mcp');
  for (let i = 0; i < 4; i++) await call('/search/mcp');
  for (let i = 0; i < 3; i++) await call('/file/mcp');
  for (let i = 0; i < 2; i++) await call('/admin/mcp', token);
  for (let i = 0; i < 5; i++) await call('/files/mcp', poor_token);
  for (let i = 0; i < 11; i++) await call('/files/mcp');
  return {
    gateway,
    token,
    poor_token,
    call,
    async close() {
      for (const stream of streams) stream.leave();
      await gateway.stop();
      await upstream.close();
      await issuer.close();
    },
  };
}

const configOf = (issuer: DemoIssuer, upstream: Upstream, gone: number): string => `
listener:
  port: 0
  public_url: ${PUBLIC_URL}
ops: { port: 0 }
gates:
  token: { use: oauth-bearer, options: { issuer: "${issuer.issuer}", required_scopes: [files.read] } }
  office: { use: ip-allow, options: { allow: [10.0.0.0/8] } }
  tools: { use: method-allow, options: { tools: ["*"] } }
runtimes:
  files: { kind: proxied, url: "${upstream.url}/mcp", headers: { x-internal: not-to-be-shown } }
  search: { kind: proxied, url: "http://127.0.0.1:${gone}/mcp" }
  notes: { kind: stdio, command: "${process.execPath}", args: ["${FIXTURE}", modern] }
routes:
  - { path: /files/mcp, gates: [token, tools], runtime: files }
  - { path: /notes/mcp, gates: [token], runtime: notes }
  - { path: /search/mcp, public: true, runtime: search }
  - { path: /admin/mcp, gates: [office, token], runtime: files }
  - { path: /clock/mcp, public: true, runtime: files }
`;

async function tokenOf({ issuer }: DemoIssuer, scope: string): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'night-job', scope }).toString();
  const { text } = await whole(`${issuer}/token`, { method: 'POST', headers, body });
  return JSON.parse(text).access_token;
}

/** Ends the child of the gateway once, and waits for the next one. */
async function restartChild(gateway: number): Promise<void> {
  await until('the child runs', () => childrenOf(gateway).length === 1);
  const [before = 0] = childrenOf(gateway);
  process.kill(before, 'SIGKILL');
  await until('it runs again', () => childrenOf(gateway).some((pid) => pid !== before));
}

/** The servers that a gateway has started; its guard is none. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && new RegExp(`^\\d+ \\(.*\\) \\S ${parent} `).test(procOf(name, 'stat')))
    .filter((name) => !procOf(name, 'cmdline').includes('child-guard'))
    .map(Number);
}

function procOf(pid: string, file: 'stat' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
