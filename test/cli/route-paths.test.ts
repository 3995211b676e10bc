import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { runCli } from '../support/cli.js';
import { configErrorOf, folderWith } from '../support/config-files.js';

const UP = { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' };
const WEB = { kind: 'http', url: 'http://127.0.0.1:2' };
const HOSTED = { kind: 'proxied', url: 'http://127.0.0.1:3/mcp', headers: { 'x-user': 'a' } };
const ALLOW = { use: 'ip-allow', options: { allow: ['127.0.0.1'] } };
const KEY = { use: 'api-key', options: { keys: [{ name: 'k', sha256: '0'.repeat(64) }] } };
const PEOPLE = { use: 'principal-allow', options: { principals: ['i#a'] } };

/** Every way in which a config can be wrong about the route `/files/mcp`, which is its second. `more` is the rest of the config. */
const WRONG: readonly (readonly [name: string, route: Readonly<Record<string, unknown>>, more?: object])[] = [
  ['no gates', { public: false }],
  ['an unknown key', { timeout: 1 }],
  ['a key of another section', { trusted_proxies: [] }],
  ['a wrong type', { gates: 'edge' }],
  ['a wrong type of an item', { gates: [1] }],
  ['a switch that is none', { public: 'yes' }],
  ['a public_url that is none', { public_url: 'x' }],
  ['forward_identity that is none', { forward_identity: 1 }],
  ['a header that is none', { forward_identity: { header: 'Host' } }],
  ['no runtime', { runtime: undefined }],
  ['an unknown runtime', { runtime: 'upp' }],
  ['an unknown gate', { gates: ['edg'] }],
  ['a gate twice', { gates: ['edge', 'edge'] }],
  ['a gate of the listener', { gates: ['edge'] }, { listener: { gates: ['edge'] } }],
  ['a gate out of order', { gates: ['people'], public: false }],
  ['two that identify', { gates: ['key', 'key2'], public: false }],
  ['a reference that is not set', { public_url: '${NOT_SET_ANYWHERE}' }],
  ['an identity that nobody finds', { forward_identity: { header: 'x-a' } }],
  ['a header that is set already', { gates: ['key'], public: false, runtime: 'named', forward_identity: { header: 'x-user' } }],
  ['a URL that another has', { public_url: 'https://a.test/first' }],
];
/** The same for warnings. */
const ODD: readonly (readonly [name: string, route: Readonly<Record<string, unknown>>])[] = [
  ['a slash at the end', { path: '/files/mcp/' }],
  ['a prefix that covers another', { path: '/', runtime: 'web' }],
];
const config = (route: Readonly<Record<string, unknown>>, more: object = {}) => ({
  gates: { edge: ALLOW, key: KEY, key2: KEY, people: PEOPLE },
  runtimes: { up: UP, web: WEB, named: HOSTED },
  routes: [
    { path: '/first', public: true, runtime: 'up', public_url: 'https://a.test/first' },
    { path: '/files/mcp', public: true, runtime: 'up', ...route },
    { path: '/web', public: true, runtime: 'web' },
    { path: '/named', public: true, runtime: 'named' },
  ],
  ...more,
});
const { folder, remove } = folderWith(
  Object.fromEntries([...WRONG, ...ODD].map(([, route, more], i) => [`${i}.json`, JSON.stringify(config(route, more))])),
);
after(remove);

/** Each mention of a route has its path behind it. */
function checkMentions(name: string, lines: readonly string[], path = '/files/mcp'): void {
  const own = lines.filter((line) => /\broutes\[\d+\]/.test(line));
  assert.ok(
    own.some((line) => line.includes(`routes[1] (${path})`)),
    `${name}: ${lines.join('\n')}`,
  );
  for (const line of own) assert.doesNotMatch(line, /\broutes\[\d+\](?! \(\/)/, `${name}: ${line}`);
}

describe('a problem of a route is told with the path of the route', () => {
  it('by validate, whether the schema, a rule or the gates find it', async () => {
    for (const [i, [name]] of WRONG.entries()) {
      const { code, stderr } = await runCli(['validate', '-c', `${i}.json`], folder);
      assert.equal(code, 78, `${name}: ${stderr}`);
      checkMentions(
        name,
        stderr.split('\n').filter((line) => line.startsWith(`${i}.json:`)),
      );
    }
  });

  it('by a start from an object', () => {
    for (const [name, route, more] of WRONG) {
      if (name === 'a gate out of order' || name === 'two that identify') continue;
      checkMentions(name, configErrorOf(() => resolveConfig(config(route, more), { folder })).message.split('\n'));
    }
  });

  it('in warnings', async () => {
    for (const [i, [name, route]] of ODD.entries()) {
      const { code, stderr } = await runCli(['validate', '-c', `${WRONG.length + i}.json`], folder);
      assert.equal(code, 0, stderr);
      checkMentions(
        name,
        stderr.split('\n').filter((line) => line.startsWith('warning: ')),
        String(route.path),
      );
    }
  });

  it('unless its path is not one, or came from a reference', () => {
    const told = (path: unknown) =>
      configErrorOf(() => resolveConfig(config({ path, nope: 1 }), { folder, env: { P: '/secret/mcp' } })).message;
    for (const path of [7, ['/a'], '', '/a\nb', `/${'x'.repeat(500)}`, '${P}']) {
      assert.match(told(path), /^routes\[1\]\.nope: /m);
      assert.doesNotMatch(told(path), /secret/);
    }
  });
});
