import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CODES } from '../src/errors/codes.js';
import { printedFiles } from '../src/print/printed.js';
import { repositoryPath } from './support/repository.js';

describe('generated files', () => {
  const printed = printedFiles();

  for (const [name, text] of Object.entries(printed)) {
    it(`${name} is what npm run print writes`, () => {
      const file = repositoryPath(name);
      assert.ok(existsSync(file), `${name} is missing: npm run print`);
      assert.ok(readFileSync(file, 'utf8') === text, `${name} is stale: npm run print`);
    });
  }

  it('docs/errors.md has every code once, and no other', () => {
    const table = (printed['docs/errors.md'] ?? '').split('\n## ')[0] ?? '';
    const documented = [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
    assert.deepEqual(documented, Object.keys(CODES));
  });
});
