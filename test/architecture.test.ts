import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { folderOf, isAllowed, LOADERS, TABLE } from './support/import-table.js';
import { scanSource, scanSources, stripSource } from './support/source-scan.js';

/** Only here may time, timers and the process be touched. */
const CLOCK = 'src/system-clock.ts';
const MAIN = 'src/main.ts';
const HOST = 'src/system-process.ts';
const GUARD = 'src/child-guard.ts';

const FILES = scanSources(['src', 'gates']);
const EDGES = FILES.flatMap((file) => file.edges);

describe('architecture', () => {
  it('was looked at: files and edges were found', () => {
    assert.ok(FILES.length >= 150, `${FILES.length} files`);
    assert.ok(EDGES.length >= 500, `${EDGES.length} edges`);
    for (const folder of Object.keys(TABLE))
      assert.ok(
        FILES.some((file) => folderOf(file.name) === folder),
        `no file in ${folder}`,
      );
    for (const known of ['prom-client', 'yaml', 'undici', 'portcullis/gate'])
      assert.ok(
        EDGES.some((edge) => edge.to === known),
        known,
      );
  });

  it('every import is allowed by the table', () => {
    assert.deepEqual(
      EDGES.filter((edge) => !isAllowed(edge)).map((edge) => `${edge.from} -> ${edge.specifier}`),
      [],
    );
  });

  it('the table forbids what it should', () => {
    const forged = (from: string, specifier: string | undefined) =>
      isAllowed({ from, specifier, to: specifier?.startsWith('.') ? specifier.slice(2) : (specifier ?? ''), type_only: false });
    assert.ok(forged('src/wire/scan.ts', './src/errors/error.ts'));
    assert.ok(!forged('src/wire/scan.ts', './src/core/serve.ts'));
    assert.ok(!forged('src/wire/scan.ts', 'node:fs'));
    assert.ok(!forged('src/listener/request/server.ts', 'prom-client'));
    assert.ok(!forged('src/core/serve.ts', './src/listener/request/server.ts'));
    assert.ok(!forged('src/runtime/proxied/proxied.ts', 'fastify'));
    assert.ok(!forged('src/config/load.ts', './src/gateway.ts'));
    assert.ok(!forged('src/config/load.ts', undefined));
    assert.ok(!forged('src/new-folder/file.ts', './src/contract/gate.ts'));
    assert.ok(!forged('gates/mtls/gate.ts', './src/contract/gate.ts'));
    assert.ok(!forged('gates/mtls/gate.ts', 'fastify'));
  });

  it('only telemetry imports prom-client, and only the loaders import what a config names', () => {
    const importers = (module: string) => [...new Set(EDGES.filter((edge) => edge.to === module).map((edge) => folderOf(edge.from)))];
    assert.deepEqual(importers('prom-client'), ['telemetry']);
    assert.deepEqual(importers('commander'), ['cli']);
    assert.deepEqual([...new Set(EDGES.filter((edge) => edge.specifier === undefined).map((edge) => edge.from))], LOADERS);
  });

  it('no module imports itself on a round trip, type-only imports counted', () => {
    assert.deepEqual(findCycles(), []);
  });

  it('only main.ts and the process host touch the process; only the clock reads time', () => {
    const uses = (pattern: RegExp, ...allowed: readonly string[]) =>
      FILES.filter((file) => !allowed.includes(file.name) && pattern.test(file.code)).map((file) => file.name);
    assert.deepEqual(uses(/(?<![.\w$])process\s*[.[]/, MAIN, HOST, GUARD), []);
    assert.deepEqual(uses(/\bglobalThis\b/), []);
    assert.deepEqual(uses(/(?<![.\w$])console\s*[.[]/), []);
    assert.deepEqual(uses(/\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bnew\s+Date\b(?!\s*\()|\bperformance\s*\.\s*now\b/, CLOCK), []);
    assert.deepEqual(uses(/(?<![.\w$])set(?:Timeout|Interval)\s*\(|AbortSignal\s*\.\s*timeout\b/, CLOCK, MAIN, GUARD), []);
    assert.deepEqual(uses(/(?<![.\w$])(?:eval|require)\s*\(|new\s+Function\b/), []);
    assert.deepEqual(
      EDGES.filter((edge) => edge.to === 'node:process' || edge.to === 'process').map((edge) => edge.from),
      [],
    );
  });

  it('exports are named', () => {
    assert.deepEqual(
      FILES.filter((file) => /\bexport\s+default\b|\bas\s+default\b/.test(file.code)).map((file) => file.name),
      [],
    );
  });

  it('files are small and named in kebab-case', () => {
    assert.deepEqual(
      FILES.filter((file) => file.lines > 300).map((file) => `${file.name}: ${file.lines} lines`),
      [],
    );
    assert.deepEqual(
      FILES.filter((file) => !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(file.name)).map((file) => file.name),
      [],
    );
  });
});

describe('the scanner of the architecture test', () => {
  it('sees every form of import and nothing in comments, strings, templates and regular expressions', () => {
    const text = [
      "import { a, type B } from './a.js';",
      "import type { C } from '../c.js';",
      "import { type D, type E } from 'd';",
      "import * as f from 'f';",
      "import 'side-effect';",
      "export { g } from './g.js';",
      "export * from './h.js';",
      "export type { I } from './i.js';",
      "const j = await import('j');",
      'const k = await import(name);',
      "// import l from 'l';",
      "/* import m from 'm'; */",
      'const n = "import o from \'o\'";',
      "const p = `import q from 'q' ${r(`${s}`)} import t from 't'`;",
      'const u = /[\'"`/*]/.test(v) ? 1 / 2 / 3 : w;',
      "import {\n  x,\n  y,\n} from './x.js';",
    ].join('\n');
    assert.deepEqual(
      scanSource('src/z/z.ts', text).edges.map((edge) => `${edge.to}${edge.type_only ? ' type' : ''}`),
      ['src/z/a.ts', 'src/c.ts type', 'd type', 'f', 'src/z/g.ts', 'src/z/h.ts', 'src/z/i.ts type', 'src/z/x.ts', 'side-effect', 'j', ''],
    );
  });

  it('leaves the code', () => {
    assert.equal(stripSource("a; // b\nc('d', `e${f}g`) / /h/.i;").code, 'a; \nc(§0§, §1§ f §2§) / §§.i;');
  });
});

function findCycles(): readonly string[] {
  const next = new Map(FILES.map((file) => [file.name, file.edges.map((edge) => edge.to)]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (name: string, trail: readonly string[]) => {
    if (trail.includes(name)) cycles.push([...trail.slice(trail.indexOf(name)), name].join(' -> '));
    if (done.has(name) || trail.includes(name)) return;
    for (const to of next.get(name) ?? []) walk(to, [...trail, name]);
    done.add(name);
  };
  for (const name of next.keys()) walk(name, []);
  return cycles;
}
