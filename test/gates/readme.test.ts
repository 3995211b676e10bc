import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { openChains } from '../../src/gate-chain/load.js';
import { makeClock, makeHead, makeLog, makeMetrics } from '../../src/testing.js';
import { inputOf } from '../support/chain-bench.js';
import { makeConfigFolder, root } from '../support/third-party-gates/folder.js';

const folder = makeConfigFolder();
after(folder.remove);

const readme = readFileSync(join(root, 'gates', 'README.md'), 'utf8');
const files = new Map([...readme.matchAll(/```js (\S+)\n([\s\S]*?)```/g)].map(([, name, text]) => [name as string, text as string]));
for (const [name, text] of files) writeFileSync(join(folder.path, name), text);

test('the README has a gate of at most forty lines and a test', () => {
  assert.deepEqual([...files.keys()], ['office-hours.js', 'office-hours.test.js']);
  assert.ok((files.get('office-hours.js') ?? '').trimEnd().split('\n').length <= 40);
});

test('the README’s test passes', async () => {
  writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}');
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', 'office-hours.test.js'], {
    cwd: folder.path,
    env,
  });
  assert.match(stdout, /^ok 1 - office-hours closes on time$/m);
});

test('the README’s gate loads as a file: gate', async () => {
  const deps = {
    builtins: {},
    log: makeLog(),
    metrics: makeMetrics(),
    telemetry: { gateDecided: () => {} } as never,
    clock: makeClock(Date.UTC(2026, 0, 1, 19)),
    signal: new AbortController().signal,
    folder: folder.path,
  };
  const input = {
    ...inputOf({ modules: {}, route: ['hours'], public: true }),
    gates: { hours: { use: 'file:./office-hours.js', options: { to_hour: 20 } } },
  };
  const chains = await openChains(input, deps);
  const outcome = chains.routes.get('/mcp')?.decide(makeHead(), { abort: undefined });
  assert.deepEqual(outcome, { kind: 'admit', identity: undefined, facts: { office_hour: 19 }, authorized: false });
  await chains.close();
});
