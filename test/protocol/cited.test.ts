import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { repositoryPath } from '../support/repository.js';
import { REQUIREMENTS } from './requirements.js';

/** Ids at the beginning of the names of tests. */
function citedIds(): ReadonlySet<string> {
  const cited = new Set<string>();
  for (const file of readdirSync(repositoryPath('test'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    const text = readFileSync(repositoryPath(`test/${file}`), 'utf8');
    for (const [, ids = ''] of text.matchAll(/\bit\(\s*['"`]((?:[A-Z]{2}-\d+ )+)/g)) for (const id of ids.trim().split(' ')) cited.add(id);
  }
  return cited;
}

describe('requirements of MCP 2026-07-28', () => {
  const ids = REQUIREMENTS.map(({ id }) => id);

  it('have ids of their own and sections', () => {
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.length >= 110, `${ids.length}`);
    for (const { id, section, says } of REQUIREMENTS) assert.ok(section.length > 0 && says.endsWith('.'), id);
  });

  it('that we have to keep are cited by tests, each of them', () => {
    const cited = citedIds();
    assert.deepEqual(
      REQUIREMENTS.filter(({ by, id }) => by === 'server' && !cited.has(id)).map(({ id, says }) => `${id} ${says}`),
      [],
    );
  });

  it('are there for every id that a test cites', () => {
    assert.deepEqual(
      [...citedIds()].filter((id) => !ids.includes(id)),
      [],
    );
  });
});
