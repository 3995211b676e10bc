import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { RUNTIME_KINDS } from '../../src/config/schema/runtimes.js';
import { configErrorOf } from '../support/config-files.js';

const KINDS = Object.keys(RUNTIME_KINDS).join(', ');

const RUNTIMES = { up: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } };
const ROUTES = [{ path: '/mcp', public: true, runtime: 'up' }];
const BASE = { runtimes: RUNTIMES, routes: ROUTES };
const told = (input: object, env = {}) =>
  configErrorOf(() => resolveConfig({ ...BASE, ...input }, { env, folder: '/' })).problems.map(
    ({ where, message }) => `${where}: ${message}`,
  );
const limits = (value: object) => told({ listener: { limits: value } });

describe('validation', () => {
  it('takes whole numbers of at least 1 as limits, and 0 only where the table says so', () => {
    const range = 'expected a whole number from 1 to 2147483647';
    const all = resolveConfig(BASE, { folder: '/' }).config.listener.limits;
    for (const key of Object.keys(all)) {
      const zero = key === 'sse_keepalive_ms' || key === 'drain_delay_ms';
      const least = key === 'request_timeout_max_ms' ? 30_000 : 1;
      const accepted = (value: number) => resolveConfig({ ...BASE, listener: { limits: { [key]: value } } }, { folder: '/' });
      assert.equal(accepted(least).config.listener.limits[key as keyof typeof all], least, key);
      if (zero) assert.equal(accepted(0).config.listener.limits[key as keyof typeof all], 0, key);
      else assert.match(limits({ [key]: 0 }).join(), new RegExp(`^listener.limits.${key}: expected a whole number from 1 to `), key);
      for (const value of [-1, 1.5, 2 ** 31, Number.POSITIVE_INFINITY, Number.NaN, '5', null, true, [], {}]) {
        assert.match(
          limits({ [key]: value }).join(),
          new RegExp(`^listener.limits.${key}: expected a whole number from ${zero ? 0 : 1} to `),
          `${key} ${value}`,
        );
      }
    }
    assert.deepEqual(limits({ max_connections: 0 }), [`listener.limits.max_connections: ${range}`]);
    assert.deepEqual(limits({ max_header_count: 1_001 }), ['listener.limits.max_header_count: expected a whole number from 1 to 1000']);
  });

  it('refuses unknown keys with what was probably meant', () => {
    assert.deepEqual(limits({ max_conections: 1 }), ['listener.limits.max_conections: unknown key; did you mean max_connections?']);
    assert.deepEqual(limits({ maxConnections: 1 }), ['listener.limits.maxConnections: unknown key; did you mean max_connections?']);
    assert.deepEqual(told({ listener: { max_connections: 1 } }), [
      'listener.max_connections: unknown key here; it belongs in listener.limits',
    ]);
    assert.deepEqual(told({ limit: {} }), [
      'limit: unknown key; the keys here are listener, ops, gates, runtimes, routes, telemetry, reload',
    ]);
    assert.deepEqual(told({ ops: { zzzzzzzz: 1 } }), [
      'ops.zzzzzzzz: unknown key; the keys here are enabled, host, port, page, explain, allowed_hosts',
    ]);
    assert.deepEqual(
      told({ listener: { 'white space': 1 } }).map((line) => line.split(':')[0]),
      ['listener["white space"]'],
    );
  });

  it('says what kind of value it wanted and what it found, not the value', () => {
    assert.deepEqual(told({ listener: [] }), ['listener: expected a mapping, found a list']);
    assert.deepEqual(told({ listener: { host: 1 } }), [
      'listener.host: expected a text, found a number; put it in quotes to make it a text',
    ]);
    assert.deepEqual(told({ listener: { cors: 'yes' } }), ['listener.cors: expected true or false, found a text']);
    assert.deepEqual(told({ listener: { gates: null } }), [
      'listener.gates: expected a list, found nothing: give a value or remove the key',
    ]);
    assert.deepEqual(told({ listener: { gates: 'g' } }), ['listener.gates: expected a list, found a text']);
    assert.deepEqual(told({ listener: { host: '' } }).length, 1);
    assert.deepEqual(told({ routes: [] }), ['routes: needs at least 1 entry']);
    assert.deepEqual(told({ routes: undefined }), ['routes: is required. What is served, and who may call it.']);
    assert.deepEqual(told({ listener: { chunked_requests: 'acept' } }), [
      'listener.chunked_requests: expected one of accept, refuse; did you mean accept?',
    ]);
    assert.deepEqual(told({ listener: { trusted_proxies: Array(257).fill('::1') } }), [
      'listener.trusted_proxies: has more than 256 entries',
    ]);
    assert.deepEqual(told({ listener: { sessions: { keys: ['k'.repeat(32), 'l'.repeat(32), 'm'.repeat(32)] } } }), [
      'listener.sessions.keys: has more than 2 entries',
    ]);
    assert.deepEqual(told({ listener: { public_url: `https://${'a'.repeat(4096)}` } }), [
      'listener.public_url: is longer than 4096 characters',
    ]);
  });

  it('tells runtimes by their kind', () => {
    const runtimes = (value: object) =>
      told({ runtimes: { ...RUNTIMES, x: value }, routes: [...ROUTES, { path: '/x', public: true, runtime: 'x' }] });
    assert.deepEqual(runtimes({ kind: 'proxy', url: 'http://u' }), [
      `runtimes.x.kind: unknown kind; the kinds are ${KINDS}; did you mean proxied?`,
    ]);
    assert.deepEqual(runtimes({ kind: 'telnet', command: 'x' }), [`runtimes.x.kind: unknown kind; the kinds are ${KINDS}`]);
    assert.deepEqual(runtimes({ url: 'http://u' }), [`runtimes.x.kind: is required. One of ${KINDS}.`]);
    assert.deepEqual(runtimes({ kind: 7 }), [`runtimes.x.kind: unknown kind; the kinds are ${KINDS}`]);
    assert.deepEqual(runtimes({ kind: 'proxied' }), [
      'runtimes.x.url: is required. URL of the MCP server: http(s), without userinfo or fragment. A query is sent with every request and never shown. Client input never changes the URL.',
    ]);
    assert.deepEqual(runtimes({ kind: 'proxied', url: 'http://u', forward_authorization: true }), [
      'runtimes.x.forward_authorization: unknown key here; it belongs in runtimes.NAME of kind http',
    ]);
    assert.deepEqual(runtimes({ kind: 'http', url: 'ftp://u' }), ['runtimes.x.url: must be a URL that begins with http:// or https://']);
    assert.deepEqual(runtimes({ kind: 'http', url: 'http://u', headers: { Host: 'h', 'x-a': 'v\r\nx-b: w' } }), [
      'runtimes.x.headers.Host: is set by the gateway itself and can not be configured',
      'runtimes.x.headers.x-a: must be one line: CR, LF and NUL can not be in a header',
    ]);
  });

  it('bounds the names of gates and runtimes', () => {
    const message = 'a name begins with a letter and has at most 63 letters, digits, - and _';
    for (const name of ['1a', 'a b', 'a.b', '', 'é', 'a'.repeat(64)]) {
      const [line] = told({ gates: { [name]: { use: 'ip-allow' } } });
      assert.ok(line?.endsWith(`: ${message}`), line);
    }
    assert.deepEqual(told(JSON.parse('{"gates":{"__proto__":{"use":"x"}}}')), ['gates.__proto__: this key is never allowed']);
    assert.deepEqual(told({ gates: { g: { use: 'Ip_Allow' } } }).length, 1);
    assert.deepEqual(told({ gates: { g: { use: 'x', timeout_ms: 0 } } }), [
      'gates.g.timeout_ms: expected a whole number from 1 to 2147483647',
    ]);
  });

  it('turns the text of a reference into the number or switch that the key wants, and only that', () => {
    const listener = { port: '${PORT}', cors: '${CORS}', limits: { max_connections: '${N:-7}' } };
    const { config } = resolveConfig({ ...BASE, listener }, { env: { PORT: '8081', CORS: 'true' }, folder: '/' });
    assert.deepEqual([config.listener.port, config.listener.cors, config.listener.limits.max_connections], [8081, true, 7]);
    for (const value of ['080', '8e3', '0x50', ' 80', '1.5', 'eighty', '+5', '99999999999999999999']) {
      assert.deepEqual(
        told({ listener: { port: '${P}' } }, { P: value }),
        ['listener.port: expected a whole number from 0 to 65535, found a text'],
        value,
      );
    }
    assert.deepEqual(told({ listener: { port: '${P}' } }, { P: '70000' }), ['listener.port: expected a whole number from 0 to 65535']);
    assert.deepEqual(told({ listener: { cors: '${C}' } }, { C: 'TRUE' }), ['listener.cors: expected true or false, found a text']);
    assert.deepEqual(told({ listener: { port: '8080' } }), ['listener.port: expected a whole number from 0 to 65535, found a text']);
  });

  it('tells every unresolved reference once, by key, with everything else that is wrong', () => {
    assert.deepEqual(
      told({
        listener: { public_url: '${URL}', port: '${PORT}', prot: 1 },
        runtimes: { up: { kind: 'proxied', url: '${UP:?the MCP server}' } },
      }),
      [
        'runtimes.up.url: environment variable UP is not set: the MCP server',
        'listener.public_url: environment variable URL is not set; set it, or write ${URL:-default}',
        'listener.port: environment variable PORT is not set; set it, or write ${PORT:-default}',
        'listener.prot: unknown key; did you mean port?',
      ],
    );
  });

  it('a public URL without scheme is refused at start', () => {
    assert.deepEqual(told({ listener: { public_url: 'mcp.example.com/x' } }), [
      'listener.public_url: must be a URL that begins with http:// or https://',
    ]);
  });
});
