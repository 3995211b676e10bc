import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { buildProgram } from '../src/cli/program.js';
import { cliIo } from './support/cli.js';
import { repositoryPath } from './support/repository.js';

describe('docs/operators.md', () => {
  const text = readFileSync(repositoryPath('docs/operators.md'), 'utf8');
  const lines = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap((match) => (match[1] ?? '').split('\n'));
  const silent = () => undefined;
  const program = buildProgram(cliIo({ env: {}, cwd: '/', stdout: silent, stderr: silent }));

  it('names commands and options that there are', () => {
    let seen = 0;
    for (const line of lines) {
      const [, name, words = ''] = /portcullis ([a-z-]+)([^#|)]*)/.exec(line) ?? [];
      if (name === undefined) continue;
      const command = program.commands.find((one) => one.name() === name);
      assert.ok(command !== undefined, line);
      for (const [, option] of words
        .split(' -- ', 1)
        .join('')
        .matchAll(/(?:^| )(--?[a-z][a-z-]*)/g)) {
        assert.ok(
          command.options.some(({ long, short }) => long === option || short === option),
          `${line}: ${option}`,
        );
        seen += 1;
      }
    }
    assert.ok(seen >= 20, `${seen} options`);
  });
});
