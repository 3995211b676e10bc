// The listener's tests, the 69 raw heads among them, on a current Node: `npm run node24` brings it from the npm registry.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { currentNode } from '../support/e2e/current-node.js';
import { repositoryPath } from '../support/repository.js';

const node = currentNode();
const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
assert.match(version, /^v24\./);
const run = spawnSync(
  node,
  [repositoryPath('dist/test/run.js'), 'listener/socket/raw-http', 'listener/socket/limits', 'listener/request/head-checks'],
  {
    encoding: 'utf8',
    timeout: 120_000,
  },
);
const [, pass] = /pass (\d+)/.exec(run.stdout) ?? [];
console.log(`${version}: ${pass} tests of the listener pass`);
assert.equal(run.status, 0, run.stdout.slice(-4000));
assert.ok(Number(pass) >= 130, pass);
