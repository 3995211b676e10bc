import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { repositoryPath } from '../support/repository.js';
import { REQUIREMENTS } from './requirements.js';

const TESTED = ['server', 'intermediary'];
/** As often as the pages say MUST or MUST NOT; a list under one MUST counts each of its points. */
const COUNT = 216;

describe('requirements of MCP 2026-07-28', () => {
  const cited = citations();
  const ids = new Set(REQUIREMENTS.map(({ id }) => id));

  it('are all listed, each under an id of its own', () => {
    assert.equal(ids.size, COUNT);
    assert.equal(REQUIREMENTS.length, COUNT);
  });

  it('that bind the gateway are each cited by a test', () => {
    const missing = REQUIREMENTS.filter(({ id, role }) => TESTED.includes(role) && !cited.has(id));
    assert.deepEqual(
      missing.map(({ id, source, text }) => `${id} ${source}: ${text}`),
      [],
    );
  });

  it('are what tests cite: no test names an id that is none', () => {
    const unknown = [...cited].filter(([id]) => !ids.has(id)).map(([id, files]) => `${id} in ${files.join(', ')}`);
    assert.deepEqual(unknown, []);
  });
});

/** Files by the ids that they cite, in the name of a test or in a comment `// requirement: …`. */
function citations(): ReadonlyMap<string, readonly string[]> {
  const prefixes = [...new Set(REQUIREMENTS.map(({ id }) => id.split('-', 1)[0]))].join('|');
  const id_pattern = new RegExp(`\\b(?:${prefixes})-\\d{2}\\b`, 'g');
  const citing = /^\s*(?:\/\/ requirement: |(?:it|test|describe)\()/;
  const cited = new Map<string, string[]>();
  const folder = repositoryPath('test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:test|e2e)\.ts$/.test(file));
  assert.ok(files.length > 100, `${files.length} test files`);
  for (const file of files) {
    for (const line of readFileSync(`${folder}/${file}`, 'utf8').split('\n')) {
      if (!citing.test(line)) continue;
      for (const [id] of line.matchAll(id_pattern)) cited.set(id, [...(cited.get(id) ?? []), file]);
    }
  }
  return cited;
}
