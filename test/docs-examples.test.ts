// Every value that portcullis/gate, portcullis/server and portcullis/client export has an @example; each compiles under the strictest
// options and runs: what it asserts is true.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Block, compileBlocks, placeOf } from './support/documented-code.js';
import { repositoryPath } from './support/repository.js';

const ENTRIES = ['src/gate.ts', 'src/server.ts', 'src/client.ts'];
const PLACE = placeOf('documented-examples');

interface Example extends Block {
  readonly name: string;
}

/** The functions, classes and constants of ours that an entry exports, with the file that declares each. */
function valuesOf(entry: string): readonly { readonly name: string; readonly file: string }[] {
  const source = readFileSync(repositoryPath(entry), 'utf8');
  const own = [...source.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)].map(([, name = '']) => ({ name, file: entry }));
  const passed = [...source.matchAll(/^export \{([^}]*)\} from '(\.[^']+)\.js'/gm)].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type ') && name !== 'Type')
      .map((name) => ({ name, file: join(dirname(entry), `${from}.ts`) })),
  );
  return [...own, ...passed];
}

/** The example in the docstring of a declaration; undefined: it has none. */
function exampleOf(name: string, file: string): Example | undefined {
  const source = readFileSync(repositoryPath(file), 'utf8');
  const at = source.search(new RegExp(`^export (?:async )?(?:function|class|const) ${name}\\b`, 'm'));
  const start = source.lastIndexOf('/**', at);
  const found = / \* @example\n \* ```ts\n(.*?)^ \* ```$/ms.exec(source.slice(start, at));
  if (found === null) return undefined;
  const line = source.slice(0, start + found.index).split('\n').length + 2;
  return { name, where: `${file}:${line}`, code: (found[1] ?? '').replaceAll(/^ \* ?/gm, '') };
}

describe('examples in docstrings', () => {
  const values = ENTRIES.flatMap(valuesOf);
  const examples = values.flatMap(({ name, file }) => exampleOf(name, file) ?? []);
  let compiled = '';
  before(async () => {
    compiled = await compileBlocks(examples, PLACE);
  });
  after(() => rmSync(PLACE, { recursive: true }));

  it('every value that an entry exports has one', () => {
    const shown = new Set(examples.map(({ name }) => name));
    assert.ok(values.length >= 25, `${values.length} values`);
    assert.deepEqual(
      values.filter(({ name }) => !shown.has(name)),
      [],
    );
  });

  it('compile', () => assert.equal(compiled, ''));

  for (const [at, { name, where }] of examples.entries()) {
    it(`${name} runs`, async () => {
      await import(pathToFileURL(`${PLACE}/block-${at}.mjs`).href).catch((error: Error) => {
        throw new Error(`${where}: ${error.message}`, { cause: error });
      });
    });
  }
});
