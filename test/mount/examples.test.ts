import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { modernBody, modernHead } from '../demo/rpc.js';
import { repositoryPath } from '../support/repository.js';

/** Starts an example on a free port and calls its tool. */
async function whoami(name: string, headers: Record<string, string>): Promise<[number, unknown]> {
  const child = spawn(process.execPath, [repositoryPath(`examples/${name}.mjs`), '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await new Promise<string>((resolve) => child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim())));
    const body = modernBody('tools/call', { name: 'whoami', arguments: {} });
    const response = await fetch(url, { method: 'POST', body, headers: { ...modernHead('tools/call', 'whoami'), ...headers } });
    const answer = (await response.json()) as ReturnType<typeof JSON.parse>;
    return [response.status, answer.result?.content[0].text];
  } finally {
    child.kill('SIGKILL');
  }
}

describe('the examples of mounts', () => {
  it('serve who the host let in', async () => {
    const [fastify, stranger, node] = await Promise.all([
      whoami('mount-fastify', { authorization: 'Bearer ann-secret' }),
      whoami('mount-fastify', {}),
      whoami('mount-node', {}),
    ]);
    assert.deepEqual(fastify, [200, 'ann']);
    assert.deepEqual(stranger, [401, undefined]);
    assert.deepEqual(node, [200, 'nobody']);
  });
});
