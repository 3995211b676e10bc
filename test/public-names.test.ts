import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { repositoryPath } from './support/repository.js';

const packed = JSON.parse(readFileSync(repositoryPath('package.json'), 'utf8')) as { exports: Record<string, { types?: string }> };
const doors = Object.values(packed.exports).flatMap(({ types }) =>
  types === undefined ? [] : [types.replace('./dist/', '').replace('.d.ts', '.ts')],
);

it('every name of ours that a package export gives away has a docstring', () => {
  const looked: string[] = [];
  const bare: string[] = [];
  for (const door of doors) {
    for (const one of namesOf(door)) {
      looked.push(one.name);
      if (!isDescribed(one)) bare.push(`${one.name} of ${one.file}`);
    }
  }
  assert.ok(doors.length >= 8 && looked.length >= 150, `${doors.length} exports, ${looked.length} names`);
  assert.deepEqual(bare, []);
});

/** What a file gives away: what it declares itself, and what it hands on from files of ours. */
function namesOf(door: string): { readonly name: string; readonly file: string }[] {
  const source = readFileSync(repositoryPath(door), 'utf8');
  const own = [...source.matchAll(/^export (?:async )?(?:interface|type|class|function|const) (\w+)/gm)].map(([, name = '']) => ({
    name,
    file: door,
  }));
  const passed = [...source.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)\.js'/gm)].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
      )
      .filter((name) => name !== '')
      .map((name) => ({ name, file: join(dirname(door), `${from}.ts`) })),
  );
  return [...own, ...passed];
}

/** Follows a name to where it is declared; what a package of others declares is described there. */
function isDescribed({ name, file }: { readonly name: string; readonly file: string }): boolean {
  const source = readFileSync(repositoryPath(file), 'utf8');
  const at = source.search(new RegExp(`^export (?:async )?(?:interface|type|class|function|const) ${name}\\b`, 'm'));
  if (at >= 0) return source.slice(0, at).trimEnd().endsWith('*/');
  const passed = namesOf(file).find((one) => one.name === name);
  return passed === undefined ? /from '[a-z@]/.test(source) : isDescribed(passed);
}
