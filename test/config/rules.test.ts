import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { configErrorOf, folderWith } from '../support/config-files.js';
import { upstream } from '../support/upstream-config.js';

const { folder, remove } = folderWith({ 'cert.pem': 'c', 'key.pem': 'k', 'ca.pem': 'a' });
const UP = { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' };
const WEB = { kind: 'http', url: 'http://127.0.0.1:2' };
const GATE = { use: 'ip-allow', options: { allow: ['127.0.0.1'] } };
const route = (path: string, more: object = {}) => ({ path, runtime: 'up', public: true, ...more });

interface Input {
  readonly listener?: object;
  readonly ops?: object;
  readonly gates?: object;
  readonly runtimes?: object;
  readonly routes?: readonly object[];
  readonly telemetry?: object;
}
const load = (input: Input, env: Readonly<Record<string, string>> = {}) =>
  resolveConfig({ runtimes: { up: UP }, routes: [route('/mcp')], ...input }, { env, folder });
const told = (input: Input) => configErrorOf(() => load(input)).problems.map(({ where, message }) => `${where}: ${message}`);

describe('rules', () => {
  after(remove);

  it('a route without gates must say public', () => {
    const message = 'a route without gates lets everybody in: add gates, or say public: true';
    assert.deepEqual(told({ routes: [{ path: '/mcp', runtime: 'up' }] }), [`routes[0]: ${message}`]);
    assert.deepEqual(told({ gates: { g: GATE }, listener: { gates: ['g'] }, routes: [{ path: '/mcp', runtime: 'up' }] }), [
      `routes[0]: ${message}`,
    ]);
    assert.deepEqual(told({ routes: [{ path: '/mcp', runtime: 'up', public: false, gates: [] }] }), [`routes[0]: ${message}`]);
    assert.equal(load({ gates: { g: GATE }, routes: [{ path: '/mcp', runtime: 'up', gates: ['g'] }] }).config.routes[0]?.public, false);
  });

  it('names must lead somewhere', () => {
    const gates = { token: GATE };
    assert.deepEqual(told({ gates, routes: [route('/mcp', { gates: ['tokn'] })] }), [
      'routes[0].gates[0]: no gate has this name; did you mean token?',
    ]);
    assert.deepEqual(told({ gates, listener: { gates: ['x'] } }), ['listener.gates[0]: no gate has this name; there is token']);
    assert.deepEqual(told({ routes: [route('/mcp', { gates: ['x'] })] }), ['routes[0].gates[0]: no gate has this name; there are none']);
    assert.deepEqual(told({ routes: [route('/mcp', { runtime: 'upp' })] }), [
      'routes[0].runtime: no runtime has this name; did you mean up?',
    ]);
    assert.deepEqual(told({ gates, routes: [route('/mcp', { gates: ['token', 'token'] })] }), [
      'routes[0].gates[1]: this gate is in the chain already; a chain runs each gate once',
    ]);
    assert.deepEqual(told({ routes: [route('/mcp', { runtime: 'toString' })] }), [
      'routes[0].runtime: no runtime has this name; there is up',
    ]);
  });

  it('the paths of HTTP+SSE belong to one route of MCP', () => {
    for (const path of ['/a/sse', '/a/sse/message'])
      assert.deepEqual(told({ routes: [route('/a', { sse: true }), route(path)] }), [
        `routes[0].sse: its path ${path} is taken by routes[1] (${path})`,
      ]);
    assert.deepEqual(told({ runtimes: { up: WEB }, routes: [route('/a', { sse: true })] }), [
      'routes[0].sse: a runtime of kind http serves no MCP',
    ]);
    assert.deepEqual(load({ routes: [route('/', { sse: true }), route('/a', { sse: true }), route('/a/sse2')] }).warnings, []);
  });

  it('a server of HTTP+SSE is not a modern one', () => {
    const up = { ...UP, transport: 'sse' };
    assert.deepEqual(told({ runtimes: { up: { ...up, protocol: 'modern' } } }), [
      'runtimes.up.protocol: a server of transport: sse speaks legacy revisions alone',
    ]);
    assert.deepEqual(load({ runtimes: { up: { ...up, protocol: 'auto' } } }).warnings, []);
  });

  it('a gate of the listener runs once', () => {
    assert.deepEqual(told({ gates: { g: GATE }, listener: { gates: ['g'] }, routes: [route('/mcp', { gates: ['g'] })] }), [
      'routes[0].gates[0]: this gate runs already, as one of listener.gates',
    ]);
  });

  it('a broken gate or runtime is told once and still counts as there', () => {
    assert.deepEqual(told({ gates: { g: { use: 5 } }, routes: [route('/mcp', { gates: ['g'] })] }), [
      'gates.g.use: expected a text, found a number; put it in quotes to make it a text',
    ]);
    assert.deepEqual(told({ runtimes: { up: { kind: 'proxied' } } }).length, 1);
  });

  it('unused gates and runtimes are warnings', () => {
    assert.deepEqual(load({ gates: { spare: GATE }, runtimes: { up: UP, other: UP } }).warnings, [
      'gates.spare: no route and no listener uses this gate',
      'runtimes.other: no route ends at this runtime',
    ]);
  });

  it('a path belongs to one route', () => {
    assert.deepEqual(told({ routes: [route('/mcp'), route('/mcp')] }), [
      'routes[1].path: this path is taken by routes[0] (/mcp); every path belongs to one route',
    ]);
    assert.equal(load({ routes: [route('/mcp'), route('/mcp/'), route('/MCP')] }).config.routes.length, 3);
    const web = { runtimes: { up: UP, web: WEB } };
    assert.deepEqual(told({ ...web, routes: [route('/ui', { runtime: 'web' }), route('/ui/', { runtime: 'web' }), route('/mcp')] }), [
      'routes[1].path: this path is taken by routes[0] (/ui); every path belongs to one route',
    ]);
    assert.deepEqual(told({ routes: [route('/.well-known/oauth-protected-resource/mcp')] }), [
      'routes[0].path: /.well-known/oauth-protected-resource is answered by the gates; choose another path',
    ]);
  });

  it('a URL that clients dial belongs to one route', () => {
    const listener = { public_url: 'https://mcp.example.com' };
    assert.deepEqual(told({ listener, routes: [route('/a'), route('/b', { public_url: 'https://mcp.example.com/a' })] }), [
      'routes[1].public_url: clients dial the same URL for routes[0] (/a); audiences could not tell them apart',
    ]);
    assert.equal(load({ listener, routes: [route('/a'), route('/b', { public_url: 'https://b.example.com/a' })] }).config.routes.length, 2);
  });

  it('says what a prefix covers', () => {
    const { warnings } = load({ runtimes: { up: UP, web: WEB }, routes: [route('/', { runtime: 'web' }), route('/mcp')] });
    assert.deepEqual(warnings, [
      'routes[0] (/).path: this prefix covers the path of routes[1] (/mcp) too: the longer path wins there, every near miss of it goes to this runtime',
    ]);
    assert.deepEqual(load({ runtimes: { up: UP, web: WEB }, routes: [route('/ui', { runtime: 'web' }), route('/uix')] }).warnings, []);
  });

  it('an identity is forwarded only where there can be one, in a header of its own', () => {
    const forward_identity = { header: 'X-Who' };
    assert.deepEqual(told({ routes: [route('/mcp', { forward_identity })] }), [
      'routes[0].forward_identity: no gate runs before this route, so no identity exists to forward',
    ]);
    assert.deepEqual(
      told({
        gates: { g: GATE },
        runtimes: { up: { ...UP, headers: { 'x-who': 'fixed' } } },
        routes: [route('/mcp', { gates: ['g'], forward_identity })],
      }),
      ['routes[0].forward_identity.header: runtimes.up.headers sets this field already'],
    );
    assert.equal(
      load({ gates: { g: GATE }, listener: { gates: ['g'] }, routes: [route('/mcp', { forward_identity })] }).config.routes.length,
      1,
    );
  });

  it('plaintext outside loopback is a warning, gates or not; with TLS it is none', () => {
    const PLAIN =
      'listener.host: plaintext HTTP outside loopback, gates or not: tokens can be read on the way; set listener.tls, or keep this behind a TLS terminator on a private network';
    for (const host of ['0.0.0.0', '::', '10.1.2.3', 'gw.internal']) assert.deepEqual(load({ listener: { host } }).warnings, [PLAIN], host);
    for (const host of ['127.0.0.1', '127.1.1.1', '::1', 'localhost']) assert.deepEqual(load({ listener: { host } }).warnings, [], host);
    const tls = { cert_file: 'cert.pem', key_file: 'key.pem' };
    assert.deepEqual(load({ listener: { host: '0.0.0.0', tls } }).warnings, []);
    assert.deepEqual(load({ ops: { host: '0.0.0.0' } }).warnings, [
      'ops.host: the ops listener does not authenticate callers and accepts a drain command: only a private network may reach it',
    ]);
    assert.deepEqual(load({ ops: { host: '0.0.0.0', enabled: false } }).warnings, []);
  });

  it('trust in everybody is a warning', () => {
    assert.deepEqual(load({ listener: { trusted_proxies: ['10.0.0.0/8', '0.0.0.0/0'] } }).warnings, [
      'listener.trusted_proxies[1]: trusts everybody: any client can claim any address and certificate',
    ]);
  });

  it('a certificate header that nobody is trusted to send is a warning', () => {
    const told = 'gates.cert: takes certificates from a header, but listener.trusted_proxies is empty: name the TLS terminator there';
    const cert = (source: string) => ({ cert: { use: 'mtls', options: { source } } });
    assert.deepEqual(load({ gates: cert('nginx') }).warnings, ['gates.cert: no route and no listener uses this gate', told]);
    assert.deepEqual(load({ gates: cert('direct') }).warnings, ['gates.cert: no route and no listener uses this gate']);
    assert.deepEqual(load({ gates: cert('nginx'), listener: { trusted_proxies: ['127.0.0.1/32'] } }).warnings, [
      'gates.cert: no route and no listener uses this gate',
    ]);
  });

  it('file names become absolute and must be readable', () => {
    const tls = { cert_file: './cert.pem', key_file: `${folder}/key.pem`, client_ca_file: 'ca.pem', client_certificates: 'require' };
    const { config } = load({
      listener: { tls },
      runtimes: { up: { ...UP, url: 'https://u/mcp', ca_file: 'ca.pem' } },
      telemetry: { audit: { file: 'audit.log' } },
    });
    assert.deepEqual(config.listener.tls, {
      cert_file: `${folder}/cert.pem`,
      key_file: `${folder}/key.pem`,
      client_ca_file: `${folder}/ca.pem`,
      client_certificates: 'require',
      min_version: 'TLSv1.2',
    });
    assert.equal(upstream(config.runtimes.up).ca_file, `${folder}/ca.pem`);
    assert.equal(config.telemetry.audit?.file, `${folder}/audit.log`);
    assert.equal(load({ telemetry: { audit: { file: '-' } } }).config.telemetry.audit?.file, '-');
    assert.deepEqual(told({ listener: { tls: { cert_file: 'no.pem', key_file: '.' } }, telemetry: { audit: { file: 'no/audit.log' } } }), [
      `listener.tls.cert_file: file ${folder}/no.pem does not exist`,
      `listener.tls.key_file: file ${folder} is not a regular file`,
      `telemetry.audit.file: folder ${folder}/no does not exist`,
    ]);
  });

  it('files that the options of built-in gates name must be readable, and stay as they are written', () => {
    const gates = (file: string, use = 'api-key') => ({
      g: { use, options: { header: 'x-file', keys: [{ name: 'a', sha256_file: file }] } },
    });
    const guarded = (given: object) => ({ gates: given, routes: [{ path: '/mcp', runtime: 'up', gates: ['g'] }] });
    assert.deepEqual(load(guarded(gates('ca.pem'))).config.gates.g?.options, gates('ca.pem').g.options);
    assert.deepEqual(told(guarded(gates('no.sha256'))), [`gates.g.options.keys[0].sha256_file: file ${folder}/no.sha256 does not exist`]);
    assert.deepEqual(told(guarded({ g: { use: 'oauth-bearer', options: { jwks_file: '.' } } })), [
      `gates.g.options.jwks_file: file ${folder} is not a regular file`,
    ]);
    assert.deepEqual(load(guarded(gates('no.sha256', 'npm:@acme/gate'))).warnings, []);
  });

  it('a route of MCP that ends with a slash is warned about', () => {
    const warning = 'ends with a slash, and only that spelling is served: a client that dials it without gets 404';
    assert.deepEqual(load({ routes: [route('/a/'), route('/b'), route('/')] }).warnings, [`routes[0] (/a/).path: ${warning}`]);
    assert.deepEqual(load({ runtimes: { up: WEB }, routes: [route('/ui/')] }).warnings, []);
  });

  it('a file name that came from a reference is not repeated', () => {
    const problems = (input: object) =>
      configErrorOf(() => resolveConfig({ runtimes: { up: UP }, routes: [route('/mcp')], ...input }, { env: { F: 'zq7/zq8' }, folder }))
        .message;
    assert.equal(problems({ telemetry: { audit: { file: '${F}' } } }), 'telemetry.audit.file: folder does not exist');
    assert.equal(problems({ runtimes: { up: { ...UP, ca_file: '${F}' } } }), 'runtimes.up.ca_file: file does not exist');
  });

  it('TLS keys belong together', () => {
    assert.deepEqual(told({ listener: { tls: { cert_file: 'cert.pem' } } }), [
      "listener.tls.key_file: is required. Private key, PEM. Relative names start at the config file's folder.",
    ]);
    assert.deepEqual(told({ listener: { tls: { cert_file: 'cert.pem', key_file: 'key.pem', client_certificates: 'require' } } }), [
      'listener.tls.client_certificates: needs client_ca_file: without it no client certificate can be checked',
    ]);
    assert.deepEqual(load({ runtimes: { up: { ...UP, ca_file: 'ca.pem' } } }).warnings, [
      'runtimes.up.ca_file: has no effect: the URL is plain http',
    ]);
  });

  it('a collector is told apart from its base URL, and keys do not travel in the clear', () => {
    const tracing = (options: object) => load({ telemetry: { tracing: options } }).warnings;
    assert.deepEqual(tracing({ endpoint: 'http://127.0.0.1:4318' }), [
      'telemetry.tracing.endpoint: has no path; collectors take spans at /v1/traces',
    ]);
    assert.deepEqual(tracing({ endpoint: 'http://collector.example/v1/traces', headers: { 'x-key': 'k' }, ca_file: 'ca.pem' }), [
      'telemetry.tracing.ca_file: has no effect: the endpoint is plain http',
      'telemetry.tracing.headers: travel unencrypted: the endpoint is plain http',
    ]);
    assert.deepEqual(tracing({ endpoint: 'https://collector.example/v1/traces', headers: { 'x-key': 'k' }, ca_file: 'ca.pem' }), []);
    assert.deepEqual(tracing({ endpoint: 'http://[::1]:4318/v1/traces', headers: { 'x-key': 'k' } }), []);
  });

  it('session keys are long and different', () => {
    assert.deepEqual(told({ listener: { sessions: { keys: ['short'] } } }), [
      'listener.sessions.keys[0]: must have at least 16 characters, better 32 and more, e.g. from: openssl rand -base64 32',
    ]);
    assert.deepEqual(told({ listener: { sessions: { keys: ['k'.repeat(32), 'k'.repeat(32)] } } }), [
      'listener.sessions.keys[1]: is the same as the first key; a rotation needs two different ones',
    ]);
  });

  it('a session key of fewer than 32 characters is a warning', () => {
    assert.deepEqual(load({ listener: { sessions: { keys: ['k'.repeat(31)] } } }).warnings, [
      'listener.sessions.keys[0]: has fewer than 32 characters; take one from: openssl rand -base64 32',
    ]);
  });

  it('the ops listener has its own port', () => {
    const message = 'ops.port: is the public listener’s port; probes and metrics never share it';
    assert.deepEqual(told({ ops: { port: 8080 } }), [message]);
    assert.deepEqual(told({ ops: { port: 8080, host: '::' } }), [message]);
    assert.deepEqual(load({ ops: { port: 8080, enabled: false } }).config.ops.port, 8080);
    assert.deepEqual(load({ listener: { port: 0 }, ops: { port: 0 } }).config.ops.port, 0);
    assert.deepEqual(load({ listener: { host: '10.0.0.1' }, ops: { port: 8080, host: '10.0.0.2' } }).config.ops.port, 8080);
  });

  it('limits fit each other', () => {
    assert.deepEqual(told({ listener: { limits: { request_timeout_ms: 400_000 } } }), [
      'listener.limits.request_timeout_max_ms: is less than request_timeout_ms: it must be at least as much',
    ]);
  });

  it('the grace period of the platform must cover the drain', () => {
    const listener = { limits: { drain_delay_ms: 10_000, drain_timeout_ms: 5_000 } };
    const warnings = (grace: string) => load({ listener }, { TERMINATION_GRACE_PERIOD_SECONDS: grace }).warnings;
    assert.deepEqual(warnings('20'), []);
    assert.deepEqual(warnings(''), []);
    assert.deepEqual(warnings('19'), [
      'listener.limits.drain_timeout_ms: TERMINATION_GRACE_PERIOD_SECONDS leaves 19000 ms; drain_delay_ms + drain_timeout_ms + 5 s need 20000 ms, so a drain would be cut',
    ]);
    assert.deepEqual(warnings('30s'), ['listener.limits: TERMINATION_GRACE_PERIOD_SECONDS is not a whole number of seconds']);
  });

  it('no upstream is the gateway itself', () => {
    const at = (url: string, listener: object = {}) => ({ listener, runtimes: { up: { ...UP, url } } });
    for (const url of ['http://127.0.0.1:8080/mcp', 'http://localhost:8080/mcp', 'http://[::1]:8080/', 'http://127.0.0.1:9090/mcp']) {
      assert.deepEqual(told(at(url)), ['runtimes.up.url: is this gateway itself'], url);
    }
    assert.deepEqual(told(at('http://127.0.0.1/mcp', { host: '::', port: 80 })), ['runtimes.up.url: is this gateway itself']);
    for (const url of ['http://127.0.0.1:8081/mcp', 'http://other.internal:8080/mcp', 'http://10.0.0.1:8080/mcp']) {
      assert.deepEqual(upstream(load(at(url)).config.runtimes.up).url, url);
    }
    assert.equal(load(at('http://127.0.0.1:8080/mcp', { host: '10.0.0.9' })).config.listener.host, '10.0.0.9');
  });

  it('a header has one spelling and Authorization one source', () => {
    assert.deepEqual(told({ runtimes: { up: { ...UP, headers: { 'x-a': '1', 'X-A': '2' } } } }), [
      'runtimes.up.headers.X-A: this field is there already in another spelling',
    ]);
    assert.deepEqual(told({ runtimes: { up: { ...WEB, forward_authorization: true, headers: { authorization: 'Bearer x' } } } }), [
      'runtimes.up.forward_authorization: headers sets Authorization already; only one of them can reach the upstream',
    ]);
  });
});
