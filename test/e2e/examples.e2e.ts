// The examples that are programs run as they are, with an official client where a client would be.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { modernBody, modernHead } from '../demo/rpc.js';
import { type Child, startChild } from '../support/e2e/child.js';
import { openV2 } from '../support/e2e/sdk-clients.js';
import { repositoryPath } from '../support/repository.js';

const example = (name: string): string => repositoryPath(`examples/${name}`);

describe('the example', () => {
  it('stdio-concurrency serves what is ready first, and ends with its input', { timeout: 30_000 }, async () => {
    const client = new Client({ name: 'guest', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [example('stdio-concurrency.mjs')], stderr: 'ignore' }),
    );
    const served: string[] = [];
    const order = async (dish: string, ms: number): Promise<void> => {
      const { content } = await client.callTool({ name: 'cook', arguments: { dish, ms } });
      served.push((content as { text: string }[])[0]?.text ?? '');
    };
    await Promise.all([order('a roast', 1500), ...Array.from({ length: 20 }, (_, n) => order(`soup ${n}`, 1))]);
    assert.equal(served.length, 21);
    assert.equal(served.at(-1), 'a roast is ready');
    const abort = new AbortController();
    const slow = client.callTool({ name: 'cook', arguments: { dish: 'stew', ms: 60_000 } }, { signal: abort.signal });
    abort.abort('hungry');
    await assert.rejects(slow, /hungry|abort/i);
    await client.close();
  });

  it('mount-node answers a client', { timeout: 30_000 }, () => withProgram('mount-node.mjs', (url) => asks(url, 'nobody')));

  it('mount-fastify knows its users and leaves the rest of the app alone', { timeout: 30_000 }, () =>
    withProgram('mount-fastify.mjs', async (url) => {
      assert.equal((await fetch(url, { method: 'POST' })).status, 401);
      await asks(url, 'ann', 'ann-secret');
      const headers = { authorization: 'Bearer ann-secret', 'content-type': 'application/json' };
      const echo = await fetch(url.replace('/mcp', '/echo'), { method: 'POST', headers, body: '{"a":1}' });
      assert.deepEqual(await echo.json(), { a: 1 });
    }),
  );

  it('mount-fetch answers a Request', async () => {
    const { default: app } = (await import(example('mount-fetch.mjs'))) as { default: { fetch(request: Request): Promise<Response> } };
    const body = modernBody('tools/call', { name: 'whoami', arguments: {} });
    const headers = { ...modernHead('tools/call', 'whoami'), 'content-length': `${body.length}` };
    const answer = await app.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
    assert.equal(((await answer.json()) as { result: { content: { text: string }[] } }).result.content[0]?.text, 'nobody');
    assert.equal((await app.fetch(new Request('http://localhost/'))).status, 404);
  });
});

async function withProgram(name: string, run: (url: string) => Promise<void>): Promise<void> {
  const program: Child = startChild([example(name), '0']);
  try {
    const [url] = await program.says(/http:\/\/127\.0\.0\.1:\d+\/mcp/);
    await run(url);
  } finally {
    await program.stop('SIGKILL');
  }
}

async function asks(url: string, principal: string, bearer?: string): Promise<void> {
  for (const mode of ['legacy', 'auto'] as const) {
    const client = await openV2(mode)(url, bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } });
    assert.equal(await client.call('whoami', {}), principal);
    await client.close();
  }
}
