import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { resolveConfig } from '../../src/config/load.js';
import { printConfig } from '../../src/config/print.js';
import { upstream } from '../support/upstream-config.js';

const HERE = fileURLToPath(import.meta.url);

const INPUT = {
  routes: [{ path: '/mcp', gates: ['token'], runtime: 'files' }],
  runtimes: {
    files: { headers: { 'x-team': 'platform', 'x-api-key': '${KEY}' }, url: 'http://127.0.0.1:1/mcp', kind: 'proxied' },
  },
  gates: {
    token: {
      use: 'oauth-bearer',
      options: {
        issuer: '${ISSUER}',
        audience: 'https://a.example',
        introspection: { url: 'https://u:p@id.example', client_id: 'me', client_secret: 'hunter2', cache_s: 5 },
        shared_secret: { header: 'x-proxy', value: 'hunter3' },
        keys: [
          { name: 'probe', sha256_file: HERE },
          { name: 'guessed', sha256: 'literal' },
        ],
        password: 12345,
        max_tokens: 9,
        certificate: 'yes',
      },
    },
  },
  listener: { port: '${PORT}', sessions: { keys: ['k'.repeat(32)] } },
  telemetry: { tracing: { endpoint: 'http://127.0.0.1:1/v1/traces', headers: { 'x-team': 'hunter4' } } },
};
const loaded = resolveConfig(INPUT, { env: { KEY: 'hunter1', ISSUER: 'https://id.example', PORT: '8081' }, folder: '/' });

describe('printConfig', () => {
  it('hides an argument of a command whose own name, or the option before it, smells of a secret', () => {
    const args = [
      'server.js',
      '--api-key',
      'hunter1',
      '--token=hunter2',
      'PASSWORD=hunter3',
      '--token',
      '--verbose',
      '--max-tokens-file',
      'f',
      '-p',
      '80',
    ];
    const input = { runtimes: { a: { kind: 'stdio', command: 'node', args } }, routes: [{ path: '/a', public: true, runtime: 'a' }] };
    assert.deepEqual(parse(printConfig(resolveConfig(input, { folder: '/' }))).runtimes.a.args, [
      'server.js',
      '--api-key',
      '***',
      '--token=***',
      'PASSWORD=***',
      '--token',
      '--verbose',
      '--max-tokens-file',
      'f',
      '-p',
      '80',
    ]);
  });

  it('fills defaults and hides what came from references and what smells of a secret', () => {
    const shown = parse(printConfig(loaded));
    assert.deepEqual(shown.gates.token.options, {
      issuer: '***',
      audience: 'https://a.example',
      introspection: { url: 'https://***@id.example', client_id: 'me', client_secret: '***', cache_s: 5 },
      shared_secret: { header: 'x-proxy', value: '***' },
      keys: [
        { name: 'probe', sha256_file: HERE },
        { name: 'guessed', sha256: '***' },
      ],
      password: '***',
      max_tokens: 9,
      certificate: 'yes',
    });
    assert.deepEqual(shown.runtimes.files.headers, { 'x-team': '***', 'x-api-key': '***' });
    assert.deepEqual(shown.telemetry.tracing.headers, { 'x-team': '***' });
    assert.equal(shown.listener.port, '***');
    assert.deepEqual(shown.listener.sessions, { keys: ['***'], ttl_s: 86_400 });
    assert.equal(shown.listener.limits.max_connections, 1024);
    for (const secret of ['hunter', 'k'.repeat(32), '8081', '12345']) assert.ok(!printConfig(loaded).includes(secret), secret);
  });

  it('writes sections and keys in the order of the schema', () => {
    const shown = parse(printConfig(loaded));
    assert.deepEqual(Object.keys(shown), ['listener', 'ops', 'gates', 'runtimes', 'routes', 'telemetry', 'reload']);
    assert.deepEqual(Object.keys(shown.runtimes.files), [
      'kind',
      'url',
      'headers',
      'connections',
      'connection_max_age_ms',
      'max_waiting',
      'tasks',
      'max_event_bytes',
      'transport',
      'protocol',
      'bridge',
    ]);
  });

  it('leaves the config itself as it was', () => {
    assert.equal(upstream(loaded.config.runtimes.files).headers['x-api-key'], 'hunter1');
  });
});
