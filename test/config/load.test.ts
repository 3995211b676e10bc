import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { loadConfig, resolveConfig } from '../../src/config/load.js';
import { locate } from '../../src/config/source.js';
import { configErrorOf, folderWith } from '../support/config-files.js';
import { upstream } from '../support/upstream-config.js';

const MINIMAL =
  'runtimes:\n  a: { kind: proxied, url: "http://127.0.0.1:3001/mcp" }\nroutes:\n  - { path: /a/mcp, public: true, runtime: a }\n';

describe('loadConfig', () => {
  const { folder, remove } = folderWith({
    'minimal.yaml': MINIMAL,
    'minimal.json': JSON.stringify({
      runtimes: { a: { kind: 'http', url: 'https://127.0.0.1:1' } },
      routes: [{ path: '/a', public: true, runtime: 'a' }],
    }),
    'typo.yaml': `listener:\n  host: 127.0.0.1\n  limits:\n    max_conections: 5\n${MINIMAL}`,
    'secret.txt': 's3cret-value\r\n',
    'many.yaml': 'listener: { port: -1, cors: yes }\nroutes:\n  - { path: a, gates: [x], runtime: y }\n',
  });
  after(remove);
  const options = { env: {}, cwd: folder };

  it('fills every default of a minimal file', () => {
    const loaded = loadConfig('minimal.yaml', options);
    assert.equal(loaded.file, `${folder}/minimal.yaml`);
    assert.equal(loaded.folder, folder);
    assert.deepEqual(loaded.warnings, []);
    assert.deepEqual(loaded.config, {
      listener: {
        host: '127.0.0.1',
        port: 8080,
        trusted_proxies: [],
        allowed_origins: [],
        allowed_hosts: [],
        cors: false,
        chunked_requests: 'accept',
        keep_alive: true,
        sessions: { keys: [], ttl_s: 86_400 },
        gates: [],
        limits: {
          max_connections: 1024,
          head_timeout_ms: 10_000,
          read_timeout_ms: 5_000,
          max_header_bytes: 32_768,
          max_header_count: 200,
          max_body_bytes: 2_000_000,
          gate_timeout_ms: 10_000,
          body_timeout_ms: 10_000,
          request_timeout_ms: 30_000,
          request_timeout_max_ms: 300_000,
          max_subscriptions: 256,
          max_subscriptions_per_caller: 32,
          write_timeout_ms: 5_000,
          max_stream_buffer_bytes: 262_144,
          keep_alive_timeout_ms: 75_000,
          sse_keepalive_ms: 15_000,
          drain_delay_ms: 0,
          drain_timeout_ms: 5_000,
        },
      },
      ops: { enabled: true, host: '127.0.0.1', port: 9090, page: true, explain: true, allowed_hosts: [] },
      gates: {},
      runtimes: {
        a: {
          kind: 'proxied',
          url: 'http://127.0.0.1:3001/mcp',
          headers: {},
          connections: 1024,
          connection_max_age_ms: 300_000,
          max_waiting: 256,
          tasks: 'bind',
          max_event_bytes: 8_000_000,
          transport: 'http',
          protocol: 'auto',
          bridge: {
            probe_timeout_ms: 5000,
            era_ttl_ms: 300_000,
            max_sessions: 256,
            max_sessions_per_caller: 8,
            session_idle_ms: 300_000,
            max_held: 1024,
            max_held_per_caller: 16,
            hold_ttl_ms: 300_000,
          },
        },
      },
      routes: [{ path: '/a/mcp', gates: [], public: true, runtime: 'a', sse: false }],
      telemetry: { log: { level: 'info', access: false, format: 'auto' } },
      reload: { watch: true },
    });
  });

  it('reads JSON and freezes the result all the way down', () => {
    const { config } = loadConfig('minimal.json', options);
    assert.equal(config.runtimes.a?.kind, 'http');
    for (const part of [config, config.listener.limits, config.routes, config.routes[0], config.runtimes.a])
      assert.ok(Object.isFrozen(part));
  });

  it('names the nearest key for a misspelt limit, with the line and a caret', () => {
    assert.equal(
      configErrorOf(() => loadConfig('typo.yaml', options)).message,
      'typo.yaml:4:5 listener.limits.max_conections: unknown key; did you mean max_connections?\n      max_conections: 5\n      ^',
    );
  });

  it('tells all problems at once, in the order of the file, rules included', () => {
    const error = configErrorOf(() => loadConfig('many.yaml', options));
    assert.deepEqual(
      error.problems.map((problem) => `${problem.line}:${problem.column} ${problem.where}: ${problem.message}`),
      [
        '1:19 listener.port: expected a whole number from 0 to 65535',
        '1:29 listener.cors: expected true or false, found a text',
        '3:13 routes[0].path: must begin with /',
        '3:24 routes[0].gates[0]: no gate has this name; there are none',
        '3:37 routes[0].runtime: no runtime has this name; there are none',
      ],
    );
  });

  it('says what to do when the file is not there', () => {
    assert.equal(
      configErrorOf(() => loadConfig('absent.yaml', options)).message,
      'absent.yaml does not exist: name a config with -c FILE or PORTCULLIS_CONFIG, or write one with portcullis init',
    );
    assert.equal(configErrorOf(() => loadConfig('.', options)).message, '. is not a regular file');
  });

  it('gives later problems the place of their dotted key', () => {
    const { source } = loadConfig('minimal.yaml', options);
    assert.deepEqual(locate({ where: 'runtimes.a.url', message: 'm' }, source), {
      where: 'runtimes.a.url',
      message: 'm',
      file: 'minimal.yaml',
      line: 2,
      column: 28,
      excerpt: `    a: { kind: proxied, url: "http://127.0.0.1:3001/mcp" }\n  ${' '.repeat(27)}^`,
    });
    assert.equal(locate({ where: 'routes.0.gates.3', message: 'm' }, source).line, 4);
    const placed = { where: 'x', message: 'm', line: 9 };
    assert.equal(locate(placed, source), placed);
    assert.equal(locate({ where: 'x', message: 'm' }, undefined).line, undefined);
  });
});

describe('resolveConfig', () => {
  it('takes an object, interpolates it and leaves it as it was', () => {
    const input = {
      runtimes: { a: { kind: 'proxied', url: 'http://127.0.0.1:1', headers: { 'x-api-key': '${KEY}' } } },
      routes: [{ path: '/a', public: true, runtime: 'a' }],
    };
    const before = structuredClone(input);
    const loaded = resolveConfig(input, { env: { KEY: 'k' }, folder: '/tmp' });
    assert.deepEqual(input, before);
    assert.equal(upstream(loaded.config.runtimes.a).headers['x-api-key'], 'k');
    assert.equal(loaded.file, undefined);
    assert.equal(loaded.source, undefined);
    assert.deepEqual([...loaded.referenced], ['runtimes.a.headers.x-api-key']);
  });

  it('is bounded in what it reads and in what it tells', () => {
    const folder = '/';
    const many = configErrorOf(() => resolveConfig(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`k${i}`, 1])), { folder }));
    assert.equal(many.problems.length, 501);
    assert.deepEqual(
      many.problems.slice(0, 2).map(({ where }) => where),
      ['routes', 'k0'],
    );
    assert.deepEqual(many.problems.at(-1), { where: '', message: '101 more problems are not shown' });
    const large = configErrorOf(() => resolveConfig({ listener: { gates: Array(100_000).fill('g') } }, { folder }));
    assert.ok(large.problems.some(({ where, message }) => where === '' && message === 'holds more than 100000 values'));
  });

  it('refuses what is not plain data, by its dotted key', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const base = { runtimes: {}, routes: [] };
    const where = (input: unknown) => configErrorOf(() => resolveConfig(input, { folder: '/' })).problems.map((problem) => problem.where);
    assert.ok(where({ ...base, listener: { cors: () => true } }).includes('listener.cors'));
    assert.ok(where({ ...base, listener: new Map() }).includes('listener'));
    assert.ok(where({ ...base, gates: { g: { use: 'x', options: cyclic } } }).some((key) => key.startsWith('gates.g.options.self.self')));
    assert.deepEqual(where(undefined), ['']);
    assert.deepEqual(where([]), ['']);
  });
});

describe('the text of a file', () => {
  const { folder, remove } = folderWith({
    'bom.yaml': `\ufeff${MINIMAL}x: 1\n`,
    'crlf.yaml': `${MINIMAL}x: 1\n`.replaceAll('\n', '\r\n'),
    'latin1.yaml': new Uint8Array([0x61, 0x3a, 0xe9]),
    'large.yaml': `${MINIMAL}#${'x'.repeat(1_048_576)}\n`,
    'schema.json': JSON.stringify({
      $schema: './portcullis.schema.json',
      runtimes: { a: { kind: 'http', url: 'http://127.0.0.1:1' } },
      routes: [{ path: '/a', public: true, runtime: 'a' }],
    }),
  });
  after(remove);
  const message = (name: string) => configErrorOf(() => loadConfig(name, { env: {}, cwd: folder })).message;
  const unknown = 'unknown key; the keys here are listener, ops, gates, runtimes, routes, telemetry, reload';

  it('may begin with a byte order mark and end its lines with CRLF', () => {
    assert.equal(message('bom.yaml'), `bom.yaml:5:1 x: ${unknown}\n  x: 1\n  ^`);
    assert.equal(message('crlf.yaml'), `crlf.yaml:5:1 x: ${unknown}\n  x: 1\n  ^`);
  });

  it('is UTF-8 of at most 1 MiB', () => {
    assert.equal(message('latin1.yaml'), 'latin1.yaml is not UTF-8 text');
    assert.equal(message('large.yaml'), 'large.yaml is larger than 1048576 bytes');
  });

  it('may name its schema for editors', () => {
    assert.equal(loadConfig('schema.json', { env: {}, cwd: folder }).config.routes.length, 1);
  });
});
