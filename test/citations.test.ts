// Comments, docstrings, test titles and pages cite only what a reader of this repository can open.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { repositoryPath } from './support/repository.js';

const FOLDERS = ['src', 'gates', 'test', 'bench', 'examples', 'scripts', 'docs', 'config', 'deploy'];
const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|mjs|js|md|yaml|yml|json|tpl|sh)$/.test(file) && !file.includes('node_modules'))
    .map((file) => `${folder}/${file}`),
).filter((file) => file !== 'test/citations.test.ts');
/** By their bare names too: a page may cite its neighbour of another folder so. */
const PAGES = new Set([...FILES, ...readdirSync(repositoryPath('.'))].filter((file) => file.endsWith('.md')).map((file) => basename(file)));
/** Pages that only a test has. */
const MADE_UP = /^(?:page|NOTES|nowhere|absent)\.md$/;

/** The pages of the text that are not there. */
function missing(file: string, text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w./-])[\w./-]*[\w-]\.md\b/g)]
    .map(([page]) => page)
    .filter((page) => {
      // What begins with two slashes is the rest of a URI.
      if (MADE_UP.test(page) || page.startsWith('//') || (!page.includes('/') && PAGES.has(page))) return false;
      return ![page, join(dirname(file), page), join('docs', page), page.replace(/^(?:\.\.\/)+/, '')].some((path) =>
        existsSync(repositoryPath(path)),
      );
    });
}

describe('what the repository cites', () => {
  it('is in it: every page that is named', () => {
    assert.ok(FILES.length >= 500, `${FILES.length} files`);
    const found = FILES.flatMap((file) => missing(file, readFileSync(repositoryPath(file), 'utf8')).map((page) => `${file}: ${page}`));
    assert.deepEqual(found, []);
    assert.deepEqual(missing('src/a/b.ts', '// as wire.md section 2 has it, docs/listener.md too; see README.md'), [
      'wire.md',
      'docs/listener.md',
    ]);
  });

  it('has no ids of lists that are elsewhere, in the titles of tests', () => {
    const titles = FILES.filter((file) => file.endsWith('.ts')).flatMap((file) =>
      [...readFileSync(repositoryPath(file), 'utf8').matchAll(/\b(?:it|test|describe)\(\s*(['"`])(.*?)\1/g)].map(({ 2: title = '' }) => ({
        file,
        title,
      })),
    );
    assert.ok(titles.length >= 1_000, `${titles.length} titles`);
    assert.deepEqual(
      titles.filter(({ title }) => /\b[A-Z]\d\d\b/.test(title)),
      [],
    );
  });
});
