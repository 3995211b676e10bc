import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import { builtins } from '../gates/index.js';
import { chainInput } from '../src/assembly/snapshot.js';
import { resolveConfig } from '../src/config/load.js';
import { ConfigSchema } from '../src/config/schema/config.js';
import { checkChains } from '../src/gate-chain/load.js';
import { systemClock } from '../src/system-clock.js';
import { folderWith } from './support/config-files.js';
import { repositoryPath } from './support/repository.js';

interface Fragment {
  readonly gates?: Readonly<Record<string, { readonly use: string }>>;
  readonly listener?: { readonly gates?: readonly string[] };
  readonly runtimes?: Readonly<Record<string, object>>;
  readonly routes?: readonly { readonly gates?: readonly string[]; readonly runtime: string }[];
}

const SECTIONS = new Set(Object.keys(ConfigSchema.properties));
const SOME_GATE = { use: 'ip-allow', options: { allow: ['127.0.0.1'] } };
const SOME_RUNTIME = { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' };
const { folder, remove } = folderWith({ some: 'a-secret-of-more-than-thirty-two-characters' });

const blocks = pages().flatMap((name) =>
  [...readFileSync(repositoryPath(name), 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap((match) => {
    const found = alternatives(withValues(match[1] ?? '')).map((text) => asFragment(parse(text)));
    return found.flatMap((fragment, i) => (fragment === undefined ? [] : [{ name: `${name}, block at ${match.index}, ${i}`, fragment }]));
  }),
);

describe('configs in the documentation', () => {
  after(remove);

  it('were found', () => {
    assert.ok(blocks.length >= 8, `${blocks.length} blocks`);
    assert.ok(blocks.some(({ name }) => name.startsWith('README.md')));
  });

  for (const { name, fragment } of blocks) {
    it(`${name} loads`, async () => {
      const loaded = resolveConfig(completed(fragment), { folder });
      const own = { ...loaded, config: { ...loaded.config, gates: builtinGates(loaded.config.gates), routes: [] } };
      assert.deepEqual(await checkChains(chainInput(own, 'https://mcp.example.com'), { builtins, folder, clock: systemClock }), []);
    });
  }

  it('the measured row of README.md is that of bench/RESULTS.md', () => {
    const results = readFileSync(repositoryPath('bench/RESULTS.md'), 'utf8');
    const microseconds = (row: string): string => new RegExp(`^\\| ${row} *\\| ([0-9.]+) `, 'm').exec(results)?.[1] ?? `no row ${row}`;
    const [ours, other] = [microseconds('portcullis, ip-allow \\+ oauth-bearer'), microseconds('@fastify/http-proxy')];
    const told = ` ${ours} µs; \`@fastify/http-proxy\`, which checks nothing, needs ${other} µs |`;
    assert.ok(readFileSync(repositoryPath('README.md'), 'utf8').includes(told), `README.md: ${told}`);
  });
});

function pages(): readonly string[] {
  const docs = readdirSync(repositoryPath('docs'), { recursive: true, encoding: 'utf8' });
  return ['README.md', 'gates/README.md', ...docs.map((name) => `docs/${name}`)].filter((name) => name.endsWith('.md')).sort();
}

/** References and files get a value, so that what is around them can be checked. */
function withValues(text: string): string {
  return text
    .replace(/\$\{[A-Z0-9_]*SHA256[^}]*\}/g, '0'.repeat(64))
    .replace(/\$\{file:[^}]*\}/g, () => '${file:some}')
    .replace(/\$\{[A-Z][^}]*\}/g, 'https://id.example.com')
    .replace(/((?:cert|key|client_ca|ca)_file:) [^,}\s]+/g, '$1 some')
    .replace(/(module:) \.[^,}\s]+/g, '$1 some');
}

/** A block that shows one gate in several ways is as many texts as it has top-level keys. */
function alternatives(text: string): readonly string[] {
  const keys = [...text.matchAll(/^([a-z]+):/gm)].map((match) => match[1]);
  return new Set(keys).size === keys.length ? [text] : text.split(/^(?=[a-z])/m);
}

/** A config, some sections of one, or some gates; undefined for YAML of other programs. */
function asFragment(value: unknown): Fragment | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.keys(value).every((key) => SECTIONS.has(key))) return value as Fragment;
  const gates = Object.values(value).every((item) => typeof item === 'object' && item !== null && 'use' in item);
  return gates ? ({ gates: value } as Fragment) : undefined;
}

/** What a fragment names without showing it is added. */
function completed(fragment: Fragment): object {
  const routes = fragment.routes ?? [{ path: '/some', public: true, runtime: 'some' }];
  const named = [...(fragment.listener?.gates ?? []), ...routes.flatMap((route) => ('gates' in route ? (route.gates ?? []) : []))];
  const gates = { ...Object.fromEntries(named.map((name) => [name, SOME_GATE])), ...fragment.gates };
  const runtimes = { ...Object.fromEntries(routes.map(({ runtime }) => [runtime, SOME_RUNTIME])), ...fragment.runtimes };
  return { ...fragment, gates, runtimes, routes };
}

/** Packages and files of others are not here. */
function builtinGates<T extends { readonly use: string }>(gates: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(gates).filter(([, gate]) => Object.hasOwn(builtins, gate.use)));
}
