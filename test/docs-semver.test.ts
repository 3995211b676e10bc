import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { repositoryPath } from './support/repository.js';

const WHAT_TO_DO = `docs/semver.md no longer matches the code: a surface that semantic versioning covers has changed.
Decide by its table whether the change breaks the surface, note it in CHANGELOG.md, then run: npm run print`;

it('docs/semver.md lists the surfaces as they are', async () => {
  const { semverPage } = await import(pathToFileURL(repositoryPath('scripts/semver-page.mjs')).href);
  const committed = readFileSync(repositoryPath('docs/semver.md'), 'utf8').split('\n');
  const current = ((await semverPage()) as string).split('\n');
  const gone = committed.filter((line) => !current.includes(line)).map((line) => `- ${line}`);
  const come = current.filter((line) => !committed.includes(line)).map((line) => `+ ${line}`);
  assert.ok(committed.join('\n') === current.join('\n'), [WHAT_TO_DO, ...gone, ...come].join('\n'));
  for (const surface of ['portcullis/gate', 'listener.port', 'INVALID_ARGUMENTS', 'portcullis_requests_total', '78 config', 'request_id']) {
    assert.ok(
      current.some((line) => line.startsWith(surface)),
      `${surface} is not listed`,
    );
  }
});

it('options have one spelling: snake_case, callbacks as on…', () => {
  const rows = readFileSync(repositoryPath('docs/semver.md'), 'utf8').matchAll(/^ {2}(\w+Options): (.*)$/gm);
  const options = [...rows].flatMap(([, name, members = '']) => members.split(', ').map((member) => `${name}.${member.replace('?', '')}`));
  assert.ok(options.length >= 60, `${options.length} options`);
  assert.deepEqual(
    options.filter((option) => !/\.(?:[a-z]+(?:_[a-z]+)*|on[A-Z][a-zA-Z]*)$/.test(option)),
    [],
  );
});
