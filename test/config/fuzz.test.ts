import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { resolveConfig } from '../../src/config/load.js';
import { parseConfig } from '../../src/config/parse.js';
import { fromWhere, type Path, toWhere } from '../../src/config/path.js';
import { printConfig } from '../../src/config/print.js';
import { ConfigError } from '../../src/errors/error.js';

const WHOLE = {
  listener: {
    host: '127.0.0.1',
    port: 8080,
    public_url: 'https://mcp.example.com',
    trusted_proxies: ['10.0.0.0/8'],
    allowed_origins: ['app.example.com'],
    sessions: { keys: ['${KEY}'], ttl_s: 60 },
    gates: ['edge'],
    limits: { max_connections: 5, drain_delay_ms: 0 },
  },
  ops: { port: 9090 },
  gates: {
    edge: { use: 'ip-allow', options: { allow: ['127.0.0.1'] } },
    token: { use: 'oauth-bearer', timeout_ms: 5, options: { client_secret: 'hunter2' } },
  },
  runtimes: {
    files: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp', headers: { 'x-api-key': '${KEY}' } },
    web: { kind: 'http', url: 'http://127.0.0.1:2', forward_authorization: true },
  },
  routes: [
    { path: '/mcp', gates: ['token'], runtime: 'files', forward_identity: { header: 'x-who' } },
    { path: '/ui', public: true, runtime: 'web' },
  ],
  telemetry: { log: { level: 'info' }, audit: { file: '-' } },
};
const SECRET = `zq7${'k'.repeat(40)}`;
const scope = { env: { KEY: SECRET, TERMINATION_GRACE_PERIOD_SECONDS: '30' }, folder: '/nonexistent' };

const PLACES = placesOf(WHOLE, []);
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('${KEY}', '${NONE}', '${', 'http://[', 'https://a/../b', '/%2e', '[::1', '${KEY}/0', -0, 1e308, Number.NaN, undefined),
  fc.constant(() => 1),
);

describe('any config', () => {
  it('is the valid one to begin with', () => {
    assert.equal(resolveConfig(WHOLE, scope).config.routes.length, 2);
    assert.ok(PLACES.length > 40);
  });

  it('loads or throws a ConfigError that points at keys and holds no secret (property)', () => {
    const change = fc.record({ at: fc.nat(PLACES.length - 1), value: junk, how: fc.constantFrom('set', 'delete', 'add') });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.string({ maxLength: 12 }), (changes, key) => {
        const input = structuredClone(WHOLE);
        for (const { at, value, how } of changes) mutate(input, PLACES[at] ?? [], how, value, key);
        try {
          const loaded = resolveConfig(input, scope);
          assert.ok(!printConfig(loaded).includes(SECRET));
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error));
          assert.ok(error.problems.length > 0);
          assert.ok(!error.message.includes(SECRET), error.message);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('whatever the text, parses or throws a ConfigError (property)', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '&x ',
      '*x',
      '!t ',
      '|',
      '>',
      '? ',
      '#',
      '---',
      '%',
      '\t',
      '${A}',
      ',',
      '\0',
      '\ufeff',
      '🙂',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        try {
          parseConfig(pieces.join(''), 'c.yaml');
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error));
          for (const { line, column } of error.problems) assert.ok((line ?? 0) >= 1 && (column ?? 0) >= 1);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('a dotted key leads back to its path (property)', () => {
    const step = fc.oneof(fc.string({ maxLength: 20 }), fc.nat(1_000), fc.constantFrom('a.b', 'a[0]', '"', 'x y', '0'));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (path) => {
        assert.deepEqual(fromWhere(toWhere(path)), path);
      }),
    );
  });
});

function placesOf(value: unknown, path: Path): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => placesOf(item, [...path, Array.isArray(value) ? Number(key) : key]))];
}

function mutate(root: unknown, path: Path, how: string, value: unknown, key: string): void {
  let node = root as Record<string | number, unknown> | undefined;
  for (const step of path.slice(0, -1)) node = node?.[step] as Record<string | number, unknown> | undefined;
  const last = path.at(-1);
  if (typeof node !== 'object' || node === null || last === undefined) return;
  if (how === 'set') node[last] = value;
  else if (how === 'delete') delete node[last];
  else if (typeof node[last] === 'object' && node[last] !== null && !Array.isArray(node[last]))
    Object.defineProperty(node[last], key, { value, enumerable: true, configurable: true, writable: true });
}
