import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isOutdated, loadModule } from '../../src/modules/load-module.js';
import { makeClock } from '../../src/testing.js';
import { folderWith } from '../support/config-files.js';

const { folder, remove } = folderWith({ 'hangs.mjs': 'await new Promise(() => {});\nexport const at = 0;\n' });
after(remove);
const url = pathToFileURL(`${folder}/hangs.mjs`).href;

test('a module that never loads is given up, and loaded once it was mended', async () => {
  const clock = makeClock();
  const refused = assert.rejects(loadModule(url, clock), { message: 'did not load within 30000 ms; look at its top-level await' });
  clock.advance(30_000);
  await refused;
  assert.equal(clock.pending, 0);
  assert.equal(isOutdated(url), false, 'what failed is not in force');
  writeFileSync(`${folder}/hangs.mjs`, 'export const at = 1;\n');
  assert.equal((await loadModule(url, clock)).at, 1);
  writeFileSync(`${folder}/hangs.mjs`, 'export const at = 2;\n');
  assert.equal((await loadModule(url, clock)).at, 1, 'what runs stays as it is');
  assert.equal(isOutdated(url), true);
});
