import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { folderWith } from '../support/config-files.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { type Running, running } from '../support/running.js';
import { tool, whole } from '../support/send.js';

const { folder, remove } = folderWith({
  'deaf.mjs': `import { defineServer } from '${repositoryPath('dist/src/server.js')}';
export const server = defineServer({ name: 'deaf', version: '1', tools: [{ name: 'wait', run: () => new Promise((done) => setTimeout(done, 2500)) }] });
`,
});
let up: Running;

before(async () => {
  const deaf = { kind: 'hosted', module: './deaf.mjs', max_concurrency: 1 };
  up = await running(
    {
      listener: { limits: { request_timeout_ms: 1000 } },
      runtimes: { deaf },
      routes: [{ path: '/mcp', public: true, runtime: 'deaf' }],
    },
    { folder },
  );
});
after(async () => {
  await up?.close();
  remove();
});

describe('gauges of a hosted server', () => {
  it('show the calls that run, wait, and go on though they were given up', async () => {
    const load = () => Promise.all(['running', 'queued', 'abandoned'].map((name) => up.metric(`portcullis_executor_${name}`)));
    assert.deepEqual(await load(), [0, 0, 0]);
    const calls = [1, 2].map(() => whole(`${up.url}/mcp`, tool('wait')));
    await until('one runs, one waits', async () => String(await load()) === '1,1,0');
    assert.deepEqual(
      (await Promise.all(calls)).map(({ status }) => status),
      [504, 504],
    );
    await until('the first goes on', async () => /^0,0,[12]$/.test(String(await load())));
    await until('it is over', async () => String(await load()) === '0,0,0');
  });
});
