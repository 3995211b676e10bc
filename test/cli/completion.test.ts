import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { buildProgram } from '../../src/cli/program.js';
import { cliIo, runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';

const { folder, remove } = folderWith({ 'portcullis.yaml': '' });
const silent = () => undefined;
const program = buildProgram(cliIo({ env: {}, cwd: folder, stdout: silent, stderr: silent }));

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(['completion', shell], folder);
  assert.deepEqual([code, stderr], [0, '']);
  const file = join(folder, `portcullis.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

function has(shell: string): boolean {
  return spawnSync(shell, ['--version'], { stdio: 'ignore' }).status === 0;
}

function run(shell: string, args: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync(shell, args, { cwd: folder, encoding: 'utf8', timeout: 20_000 });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout.split('\n').filter((line) => line !== '');
}

/** What bash offers for the last of these words. */
async function bash(...words: readonly string[]): Promise<readonly string[]> {
  const line = words.map((word) => `'${word}'`).join(' ');
  const script = `source "$1"; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _portcullis; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return run('bash', ['-c', script, 'bash', await scriptOf('bash')]);
}

describe('completion', () => {
  after(remove);

  it('names every command and option of the program, in each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await runCli(['completion', shell], folder);
      assert.ok(program.commands.length >= 8);
      for (const command of program.commands) {
        assert.ok(stdout.includes(command.name()), `${shell} ${command.name()}`);
        for (const { long } of command.options) {
          const word = shell === 'fish' ? `-l ${long?.slice(2)} ` : long;
          assert.ok(stdout.includes(`${word}`), `${shell} ${command.name()} ${long}`);
        }
      }
    }
  });

  it('completes commands, options and values in bash', async () => {
    assert.deepEqual(await bash('portcullis', 'va'), ['validate']);
    assert.deepEqual(await bash('portcullis', ''), [...program.commands.map((command) => command.name()), 'help']);
    assert.deepEqual(await bash('portcullis', 'explain', '--ht'), ['--http-method']);
    assert.deepEqual(await bash('portcullis', 'validate', '-'), ['--config', '-c', '--help', '-h']);
    assert.deepEqual(await bash('portcullis', 'completion', ''), ['bash', 'zsh', 'fish']);
    assert.deepEqual(await bash('portcullis', 'help', 'exp'), ['explain']);
  });

  it('leaves file names, free text and what follows -- to bash', async () => {
    assert.deepEqual(await bash('portcullis', 'validate', '-c', ''), []);
    assert.deepEqual(await bash('portcullis', 'validate', '--config', '=', 'por'), []);
    assert.deepEqual(await bash('portcullis', 'import', ''), []);
    assert.deepEqual(await bash('portcullis', 'run', '--', 'va'), []);
  });

  it('is installed by sourcing it in bash', async () => {
    const told = run('bash', ['-c', 'source "$1"; complete -p portcullis', 'bash', await scriptOf('bash')]);
    assert.deepEqual(told, ['complete -o bashdefault -o default -F _portcullis portcullis']);
  });

  it('completes in fish', { skip: !has('fish') }, async () => {
    const file = await scriptOf('fish');
    const fish = (line: string) =>
      run('fish', ['--no-config', '-c', `source ${file}; complete -C '${line}'`]).map((found) => found.split('\t')[0]);
    assert.deepEqual(fish('portcullis va'), ['validate']);
    assert.deepEqual(fish('portcullis validate --c'), ['--config']);
    assert.deepEqual(fish('portcullis completion '), ['bash', 'fish', 'zsh']);
    assert.deepEqual(fish('portcullis validate -c portcullis.y'), ['portcullis.yaml']);
    assert.deepEqual(fish('portcullis validate '), []);
  });

  it('is read by zsh, whose own helpers take every word of it', { skip: !has('zsh') }, async () => {
    const file = await scriptOf('zsh');
    run('zsh', ['-f', '-n', file]);
    const script = `autoload -Uz compinit; compinit -u -D; source "$1"
      _arguments() { if [[ $* == *'->command'* ]]; then state=$want; else print -rl -- "$@"; fi }
      _describe() { print -rl -- "\${(@P)2}"; }
      want=command; _portcullis; want=rest; words=(validate ''); _portcullis`;
    const told = run('zsh', ['-f', '-c', script, 'zsh', file]);
    assert.ok(told.some((line) => line.startsWith('validate:check a config file')));
    assert.ok(told.includes('(-c --config)--config=[config file (default\\: $PORTCULLIS_CONFIG, then ./portcullis.yaml)]:file:_files'));
  });

  it('an unknown shell is a usage error that names those there are', async () => {
    const { code, stderr } = await runCli(['completion', 'tcsh'], folder);
    assert.equal(code, 64);
    assert.match(stderr, /Allowed choices are bash, zsh, fish/);
  });
});
