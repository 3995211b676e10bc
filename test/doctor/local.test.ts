import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { loadConfig, resolveConfig } from '../../src/config/load.js';
import { checkCertificates } from '../../src/doctor/certificates.js';
import type { Check } from '../../src/doctor/check.js';
import { checkDrain, checkSessions } from '../../src/doctor/drain.js';
import { checkFiles, checkOpenFiles } from '../../src/doctor/open-files.js';
import { makeClock } from '../../src/testing.js';
import { issue } from '../gates/mtls/certificates.js';
import { folderWith } from '../support/config-files.js';

const { folder, remove } = folderWith({});
const ROUTES = {
  runtimes: { up: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
  routes: [{ path: '/mcp', public: true, runtime: 'up' }],
};
const load = (input: object = {}) => resolveConfig({ ...ROUTES, ...input }, { folder });
const NOW = Date.UTC(2030, 0, 1);

async function told({ run }: Check): Promise<readonly string[]> {
  return (await run(new AbortController().signal)).map(({ verdict, message }) => `${verdict} ${message}`);
}

describe('doctor, without network', () => {
  after(remove);

  it('the drain budget is that of the chart: preStop, delay, timeout and five seconds', async () => {
    const drain = (limits: object, grace?: string, pre_stop_s = 0) =>
      told(checkDrain(load({ listener: { limits } }).config, { grace, pre_stop_s }));
    assert.match((await drain({}))[0] ?? '', /^ok needs 10 s, and Kubernetes gives 30 s/);
    assert.match((await drain({ drain_timeout_ms: 25_001 }))[0] ?? '', /^warn needs 31 s, more than the 30 s/);
    assert.match((await drain({ drain_delay_ms: 10_000, drain_timeout_ms: 35_000 }, '50'))[0] ?? '', /^ok needs 50 s and has 50 s/);
    assert.match((await drain({ drain_delay_ms: 10_000, drain_timeout_ms: 35_000 }, '50', 1))[0] ?? '', /^fail needs 51 s and has 50 s/);
    assert.match((await drain({}, 'soon'))[0] ?? '', /^fail the grace period is not a whole number/);
  });

  it('open files are counted against connections on both sides', async () => {
    const files = (limit: string | undefined) =>
      told(
        checkOpenFiles(
          load({ listener: { limits: { max_connections: 1000 } } }).config,
          limit && `Max open files            ${limit}                 4096    files\n`,
        ),
      );
    assert.deepEqual(await files(undefined), ['ok the limit is not known on this system']);
    assert.match((await files('1127'))[0] ?? '', /^fail 1127 are allowed, fewer than 1000 connections/);
    assert.match((await files('1128'))[0] ?? '', /^warn 1128 are allowed; 1000 connections of clients and 1024 of runtimes/);
    assert.match((await files('2152'))[0] ?? '', /^ok 2152/);
    assert.match((await files('unlimited'))[0] ?? '', /^ok unlimited/);
    const stdio = { runtimes: { up: { kind: 'stdio', command: 'x', max_children: 10 } } };
    assert.match(
      (await told(checkOpenFiles(load(stdio).config, 'Max open files 4096 4096 files')))[0] ?? '',
      /1024 connections of clients and 30 of runtimes/,
    );
  });

  it('session keys are counted, and judged by their length', async () => {
    const sessions = (...keys: readonly string[]) => told(checkSessions(load({ listener: { sessions: { keys } } }).config));
    assert.match((await sessions())[0] ?? '', /^ok no keys/);
    assert.deepEqual(await sessions('k'.repeat(32)), ['ok one key']);
    assert.deepEqual(await sessions('k'.repeat(32), 'l'.repeat(32)), ['ok two keys: the first seals, both open']);
    assert.deepEqual(await sessions('k'.repeat(31)), ['warn a key has fewer than 32 characters']);
  });

  it('files with keys and secrets are for their owner alone', async () => {
    const file = join(folder, 'portcullis.yaml');
    writeFileSync(join(folder, 'secret'), `${'s'.repeat(40)}\n`, { mode: 0o644 });
    writeFileSync(file, `# \${file:./not-there}\nlistener: { sessions: { keys: ["\${file:secret}"] } }\n${stringify(ROUTES)}`);
    const files = () => told(checkFiles(loadConfig(file, { env: {} })));
    assert.deepEqual(await files(), [`warn ${folder}/secret holds a key or a secret, and every user of this machine may open it`]);
    chmodSync(join(folder, 'secret'), 0o640);
    assert.deepEqual(await files(), ['ok 1 with keys and secrets, closed to others']);
    assert.deepEqual(await told(checkFiles(load())), ['ok no key and no secret is kept in a file']);
  });

  it('certificates and CAs are told when they end, and when they have another name', async () => {
    const wishes = {
      good: { not_before: '2029-01-01T00:00:00Z', not_after: '2031-01-01T00:00:00Z', dns: ['mcp.example.com'] },
      soon: { not_before: '2029-01-01T00:00:00Z', not_after: '2030-01-10T12:00:00Z' },
      gone: { not_before: '2028-01-01T00:00:00Z', not_after: '2029-12-31T00:00:00Z' },
      early: { not_before: '2030-02-01T00:00:00Z', not_after: '2031-01-01T00:00:00Z' },
    };
    for (const [name, wish] of Object.entries(wishes)) {
      const { pem, key_pem } = await issue(wish);
      writeFileSync(join(folder, `${name}.crt`), pem);
      writeFileSync(join(folder, `${name}.key`), key_pem, { mode: 0o600 });
    }
    const certificates = (name: string, public_url = 'https://mcp.example.com', more: object = {}) =>
      told(
        checkCertificates(
          load({ listener: { public_url, tls: { cert_file: `${name}.crt`, key_file: `${name}.key`, ...more } } }),
          makeClock(NOW),
        ),
      );
    assert.deepEqual(await told(checkCertificates(load(), makeClock(NOW))), ['ok the config names none']);
    assert.deepEqual(await certificates('good'), ['ok valid for 365 days more']);
    assert.deepEqual(await certificates('good', 'https://other.example.com'), [
      'ok valid for 365 days more',
      'fail is not for other.example.com, the host of listener.public_url',
    ]);
    assert.deepEqual(
      (await certificates('good', undefined, { client_ca_file: 'gone.crt' }))[1],
      'fail the certificate has expired on Dec 31 00:00:00 2029 GMT',
    );
    assert.match((await certificates('soon'))[0] ?? '', /^warn the certificate expires on Jan 10 .* in 9 days$/);
    assert.match((await certificates('early'))[0] ?? '', /^fail the certificate is not valid before Feb {2}1/);
    const gates = { g: { use: 'forward-auth', options: { url: 'https://127.0.0.1/', ca_file: 'gone.crt' } } };
    const routes = [{ path: '/mcp', gates: ['g'], runtime: 'up' }];
    assert.match((await told(checkCertificates(load({ gates, routes }), makeClock(NOW))))[0] ?? '', /^fail the certificate has expired/);
  });
});
