// What `npm start` serves and prints: the curl line and the client snippet work as they are printed, nobody gets in without a
// token, discovery leads a client to one, the metrics count all of it, and SIGTERM ends with 0.
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ClientCredentialsProvider as CredentialsV1 } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type Child, startChild, startProgram } from '../support/e2e/child.js';
import { freePort } from '../support/e2e/everything-server.js';
import { readMetric } from '../support/e2e/gateway.js';
import { forged } from '../support/forged.js';
import { repositoryPath } from '../support/repository.js';

const TOOLS = ['echo', 'add', 'countdown', 'whoami'];
const TOKEN_LINE = /^ {2}(export TOKEN=(\S+))$/m;

let demo: Child;
let url: string;
let ops_url: string;
let printed: string;

before(async () => {
  const [port, ops_port] = [await freePort(), await freePort()];
  url = `http://127.0.0.1:${port}/mcp`;
  ops_url = `http://127.0.0.1:${ops_port}`;
  demo = startChild([repositoryPath('dist/src/main.js'), 'demo', '--port', String(port), '--ops-port', String(ops_port)]);
  await demo.says(/Ctrl-C \(drains\)/);
  printed = demo.output;
});

after(async () => void (await demo?.stop('SIGKILL')));

describe('portcullis demo', () => {
  it('the printed curl works as it is', async () => {
    const shell = startProgram('bash', ['-c', `${TOKEN_LINE.exec(printed)?.[1]}\n${block('Call a tool')}`]);
    assert.equal(await shell.ended, 0, shell.output);
    const { id, result } = JSON.parse(shell.output);
    assert.deepEqual([id, result.resultType, result.content], [1, 'complete', [{ type: 'text', text: 'hello' }]]);
  });

  it('the printed SDK snippet works as it is, and ends', { timeout: 20_000 }, async () => {
    // Inside the repository, where the snippet's import is found.
    const file = repositoryPath(`dist/demo-snippet-${process.pid}.mjs`);
    await writeFile(file, block('With the official TypeScript SDK'));
    const snippet = startChild([file], { TOKEN: token() });
    try {
      assert.equal(await snippet.ended, 0, snippet.output);
      const listed = [...snippet.output.matchAll(/^ {6}name: '(\w+)'/gm)].map(([, name]) => name);
      assert.deepEqual(listed, TOOLS);
    } finally {
      await snippet.stop('SIGKILL');
      await rm(file, { force: true });
    }
  });

  it('without a token, or with one that is not right, it answers 401 and says where to ask', async () => {
    const metadata_url = `${new URL(url).origin}/.well-known/oauth-protected-resource/mcp`;
    const none = await list({});
    assert.equal(none.status, 401);
    assert.equal(none.challenge, `Bearer resource_metadata="${metadata_url}", scope="mcp.read"`);
    assert.equal(none.body.error.data.code, 'TOKEN_REQUIRED');
    const wrong = await list({ authorization: `Bearer ${forged(token())}` });
    assert.equal(wrong.status, 401);
    assert.match(wrong.challenge, /^Bearer error="invalid_token", /);
    assert.equal((await list({ authorization: `Bearer ${token()}` })).status, 200);
  });

  it('the discovery document names the resource as it is dialled, and an issuer that answers', async () => {
    const { origin } = new URL(url);
    const document = await json(`${origin}/.well-known/oauth-protected-resource/mcp`);
    assert.deepEqual([document.resource, document.scopes_supported, document.bearer_methods_supported], [url, ['mcp.read'], ['header']]);
    const [issuer] = document.authorization_servers as readonly string[];
    assert.equal((await json(`${issuer}/.well-known/oauth-authorization-server`)).issuer, issuer);
  });

  it('a client that has no token finds its way to one by itself', { timeout: 15_000 }, async () => {
    const credentials = { clientId: 'e2e', clientSecret: 'any', expectedIssuer: await issuerUrl() };
    const client = new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const authProvider = new ClientCredentialsProvider(credentials);
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
    const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} });
    const { identity } = structuredContent as { readonly identity: object };
    const { expectedIssuer } = credentials;
    assert.deepEqual(identity, { issuer: expectedIssuer, principal: 'e2e', client: 'e2e', scopes: ['mcp.read'] });
    await client.close();

    const older = new ClientV1({ name: 'e2e', version: '1' });
    await older.connect(new TransportV1(new URL(url), { authProvider: new CredentialsV1(credentials) }) as never);
    assert.deepEqual(
      (await older.listTools()).tools.map(({ name }) => name),
      TOOLS,
    );
    await older.close();
  });

  it('the metrics have counted it', async () => {
    const page = `${ops_url}/metrics`;
    const decided = (decision: string) => readMetric(page, 'portcullis_gate_decisions_total', { route: '/mcp', gate: 'token', decision });
    assert.ok((await decided('refuse')) >= 4);
    assert.ok((await decided('identify')) >= 8);
    const called = { route: '/mcp', mcp_method: 'tools/call', era: 'modern', outcome: 'ok' };
    assert.equal(await readMetric(page, 'portcullis_requests_total', called), 2);
    assert.equal(await readMetric(page, 'portcullis_requests_total', { route: '/mcp', mcp_method: 'tools/list', outcome: 'ok' }), 3);
    assert.equal((await fetch(`${ops_url}/readyz`)).status, 200);
  });

  it('SIGTERM drains and ends with 0', async () => {
    assert.equal(await demo.stop('SIGTERM'), 0);
    assert.match(demo.output, /"killed":0,"message":"drain done"/);
    await assert.rejects(fetch(`${ops_url}/livez`));
  });

  it('says no secret in its log but the token it hands out', () => {
    assert.equal(demo.output.split(token()).length, 2);
    assert.ok(!demo.output.includes('"level":"error"'));
  });
});

const token = (): string => TOKEN_LINE.exec(printed)?.[2] ?? '';

/** The indented lines that follow the line with `heading`, as a reader would copy them. */
function block(heading: string): string {
  const [, rest = ''] = printed.split(heading, 2);
  const [, lines = ''] = /\n\n((?: {2}.*\n)+)/.exec(rest) ?? [];
  return lines.replace(/^ {2}/gm, '');
}

async function list(headers: Readonly<Record<string, string>>) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...headers,
    },
    body: '{"jsonrpc":"2.0","id":"e2e","method":"tools/list"}',
  });
  return { status: response.status, challenge: response.headers.get('www-authenticate') ?? '', body: JSON.parse(await response.text()) };
}

async function json(address: string): Promise<Record<string, unknown>> {
  const response = await fetch(address);
  assert.equal(response.status, 200, address);
  return (await response.json()) as Record<string, unknown>;
}

async function issuerUrl(): Promise<string> {
  const document = await json(`${new URL(url).origin}/.well-known/oauth-protected-resource/mcp`);
  return (document.authorization_servers as readonly string[])[0] ?? '';
}
