import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { runCli } from '../support/cli.js';
import { startCli } from '../support/cli-running.js';
import { freePort } from '../support/e2e/everything-server.js';
import { tool, whole, withHeaders } from '../support/send.js';
import { closeServer, listen } from '../support/upstream.js';

describe('portcullis demo', () => {
  it('serves behind a development issuer on loopback, prints a token that works, and ends with 0', async () => {
    const [port, ops_port] = [await freePort(), await freePort()];
    const demo = startCli(['demo', '--port', String(port), '--ops-port', String(ops_port)], '.');
    const [, token] = await demo.says(/export TOKEN=(\S+)\n[\s\S]*Stop: Ctrl-C/);
    const url = `http://127.0.0.1:${port}/mcp`;
    const call = tool('echo', { text: 'hello' });
    assert.equal((await whole(url, call)).status, 401);
    const answer = await whole(url, withHeaders(call, { authorization: `Bearer ${token}` }));
    assert.equal(JSON.parse(answer.text).result.content[0].text, 'hello');
    const [, words = '', json = ''] = /npx portcullis (call \S+ echo) '(.*)' --token-file -/.exec(demo.stdout) ?? [];
    const called = await runCli([...words.split(' '), json, '--header', `authorization: Bearer ${token}`], '.');
    assert.deepEqual([called.code, called.stdout], [0, 'hello\n']);
    assert.match(demo.stdout, new RegExp(`Metrics: http://127\\.0\\.0\\.1:${ops_port}/metrics`));
    demo.signal('SIGINT');
    assert.equal(await demo.ended, 0);
    // Up to the greeting, which is meant to show it, nothing has the token.
    const logged = demo.stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n');
    assert.equal(logged.includes(token ?? 'none'), false);
  });

  it('a port that is taken is 69, and nothing stays behind', async () => {
    const occupier = createServer();
    const taken = await listen(occupier);
    const { code, stderr } = await runCli(['demo', '--port', String(taken), '--ops-port', '0'], '.');
    await closeServer(occupier, []);
    assert.deepEqual([code, stderr], [69, `127.0.0.1:${taken} is in use by another process: choose others with --port and --ops-port\n`]);
  });
});
