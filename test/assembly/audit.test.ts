// The audit through a running gateway: what gets a line, what is in it, and that nobody waits for it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { Log } from '../../src/contract/log.js';
import { systemClock } from '../../src/system-clock.js';
import { createLog } from '../../src/telemetry/log.js';
import { folderWith } from '../support/config-files.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { type Running, running } from '../support/running.js';
import { INITIALIZE, legacy, send, tool, whole, withHeaders } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const KEY = 'a-key-that-nobody-may-read';
const OTHER_KEY = 'another-key-that-nobody-may-read';
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

let upstream: Upstream;

before(async () => {
  upstream = await startMcpUpstream();
});

after(() => upstream.close());

function config(audit: object): Readonly<Record<string, unknown>> {
  return {
    listener: { trusted_proxies: ['127.0.0.1'], gates: ['edge'], limits: { gate_timeout_ms: 200 } },
    gates: {
      edge: { use: 'ip-allow', options: { allow: ['127.0.0.0/8'] } },
      key: {
        use: 'api-key',
        options: {
          keys: [
            { name: 'alice', sha256: hash(KEY) },
            { name: 'bob', sha256: hash(OTHER_KEY) },
          ],
        },
      },
      team: { use: 'principal-allow', options: { principals: ['api-key#alice'] } },
      reads: { use: 'method-allow', options: { tools: ['echo', 'slow'] } },
      stuck: { use: 'file:./stuck.mjs' },
      broken: { use: 'file:./broken.mjs' },
    },
    runtimes: { server: { kind: 'proxied', url: `${upstream.url}/mcp` } },
    routes: [
      { path: '/mcp', gates: ['key', 'team', 'reads'], runtime: 'server' },
      { path: '/open', public: true, runtime: 'server' },
      { path: '/stuck', gates: ['key', 'stuck'], runtime: 'server' },
      { path: '/broken', gates: ['key', 'broken'], runtime: 'server' },
    ],
    telemetry: { audit },
  };
}

const module = (name: string, decide: string): string =>
  `export const gate = { name: '${name}', contract: 1, options: { type: 'object', properties: {} }, open: () => ({ decide: ${decide} }) };\n`;
const GATES = {
  'stuck.mjs': module('stuck', '() => new Promise(() => undefined)'),
  'broken.mjs': module('broken', "() => { throw new Error('no') }"),
};

type Line = Readonly<Record<string, unknown>>;

/** Runs requests against a gateway whose audit goes to a file, and returns its lines in order. */
async function audited(
  audit: object,
  run: (up: Running) => Promise<void>,
  written?: Log,
): Promise<{ readonly lines: Line[]; readonly text: string }> {
  const { folder, remove } = folderWith(GATES);
  try {
    const up = await running(config({ file: 'audit.jsonl', ...audit }), { folder, ...(written === undefined ? {} : { written }) });
    try {
      await run(up);
    } finally {
      await up.close();
    }
    const text = readFileSync(`${folder}/audit.jsonl`, 'utf8');
    return {
      lines: text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      text,
    };
  } finally {
    remove();
  }
}

/** The parts of a line that do not differ from run to run. */
const plain = ({ time: _time, request_id: _id, ...rest }: Line): Line => rest;
const as = (key: string, options = tool('echo')) => withHeaders(options, { 'x-api-key': key });

describe('audit of a running gateway', () => {
  it('each denial has one line that says who, where, why and what was asked', async () => {
    const ids: unknown[] = [];
    const { lines } = await audited({}, async ({ url }) => {
      for (const [path, options] of [
        ['/mcp', tool('echo')],
        ['/mcp', as('wrong')],
        ['/mcp', as(OTHER_KEY)],
        ['/mcp', as(KEY, tool('fail'))],
        ['/mcp', as(KEY, legacy('tools/call', { name: 'fail', arguments: {} }))],
        ['/stuck', as(KEY)],
        ['/broken', as(KEY)],
        ['/mcp', withHeaders(as(KEY), { 'x-forwarded-for': '203.0.113.9' })],
        ['/nowhere', as(KEY)],
        ['/mcp', as(KEY)],
        ['/open', tool('echo')],
      ] as const)
        ids.push((await whole(`${url}${path}`, options)).headers['x-request-id']);
    });
    const client_address = '127.0.0.1';
    const alice = { issuer: 'api-key', principal: 'alice' };
    const bob = { issuer: 'api-key', principal: 'bob' };
    const denial = { verdict: 'refused', method: 'tools/call', tool: 'echo', client_address };
    const mcp = { ...denial, route: '/mcp' };
    assert.deepEqual(
      lines.map(plain),
      [
        { ...mcp, gate: 'key', code: 'API_KEY_MISSING', status: 401 },
        { ...mcp, gate: 'key', code: 'API_KEY_INVALID', status: 401 },
        { ...mcp, gate: 'team', code: 'PRINCIPAL_NOT_ALLOWED', status: 403, ...bob },
        { ...mcp, gate: 'reads', code: 'TOOL_NOT_ALLOWED', status: 403, ...alice, tool: 'fail' },
        { ...mcp, gate: 'reads', code: 'TOOL_NOT_ALLOWED', status: 403, ...alice, tool: 'fail' },
        { ...denial, route: '/stuck', gate: 'stuck', verdict: 'timeout', code: 'GATE_TIMEOUT', status: 504, ...alice },
        { ...denial, route: '/broken', gate: 'broken', verdict: 'failed', code: 'GATE_FAILED', status: 500, ...alice },
        { ...mcp, gate: 'edge', code: 'IP_NOT_ALLOWED', status: 403, client_address: '203.0.113.9' },
        { ...denial, route: '', gate: '', code: 'NO_ROUTE', status: 404, method: '', tool: undefined },
      ].map((line) => JSON.parse(JSON.stringify(line))),
    );
    assert.deepEqual(
      lines.map(({ request_id }) => request_id),
      ids.slice(0, lines.length),
    );
    for (const { time } of lines) assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('admissions have a line when asked for; a public route’s caller is nobody', async () => {
    const { lines } = await audited({ admissions: true }, async ({ url }) => {
      assert.equal((await whole(`${url}/mcp`, as(KEY))).status, 200);
      assert.equal((await whole(`${url}/open`, INITIALIZE)).status, 200);
    });
    const line = { gate: '', verdict: 'admitted', code: '', status: 0, client_address: '127.0.0.1' };
    assert.deepEqual(lines.map(plain), [
      { ...line, route: '/mcp', issuer: 'api-key', principal: 'alice', method: 'tools/call', tool: 'echo' },
      { ...line, route: '/open', method: '' },
    ]);
  });

  it('principals can be pseudonyms: equal callers stay equal', async () => {
    const { lines, text } = await audited({ admissions: true, principal: 'sha256' }, async ({ url }) => {
      for (const key of [KEY, OTHER_KEY, KEY]) await whole(`${url}/mcp`, as(key));
    });
    const [alice, bob] = ['alice', 'bob'].map((name) => `sha256:${hash(`api-key\n${name}`)}`);
    assert.deepEqual(
      lines.map(({ principal }) => principal),
      [alice, bob, alice],
    );
    assert.doesNotMatch(text, /alice|bob|issuer/);
  });

  it('no key, token, cookie, session or argument is in the audit or in the log', async () => {
    const secrets = [
      KEY,
      'wrong-key-5309',
      'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln',
      'cookie-5309',
      'session-5309',
      'argument-5309',
      'query-5309',
    ];
    let logged = '';
    const written = createLog({ level: 'debug', format: 'json', clock: systemClock, write: (line) => void (logged += line) });
    const ask = async ({ url }: Running): Promise<void> => {
      for (const key of [KEY, 'wrong-key-5309']) {
        const options = withHeaders(as(key, tool('echo', { text: 'argument-5309' })), {
          authorization: `Bearer ${secrets[2]}`,
          cookie: 'sid=cookie-5309',
          'mcp-session-id': 'session-5309',
        });
        await whole(`${url}/mcp?access_token=query-5309`, options);
        await whole(`${url}/mcp/${secrets[2]}`, options);
      }
    };
    const { text } = await audited({ admissions: true }, ask, written);
    assert.match(logged, /request refused/);
    assert.equal(text.trimEnd().split('\n').length, 4);
    for (const secret of secrets) {
      assert.equal(text.includes(secret), false, `audit: ${secret}`);
      assert.equal(logged.includes(secret), false, `log: ${secret}`);
    }
  });

  it('a sink that takes nothing holds up no request; what it lost is counted', async () => {
    const { folder, remove } = folderWith(GATES);
    let taken = 0;
    const stuck = new Writable({
      highWaterMark: 1,
      write(_chunk, _encoding, _done) {
        taken += 1;
      },
    });
    const up = await running(config({ file: '-' }), { folder, stdout: stuck });
    try {
      const answers = await Promise.all(Array.from({ length: 50 }, () => whole(`${up.url}/mcp`, tool('echo'))));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]));
      assert.equal((await whole(`${up.url}/open`, tool('echo'))).status, 200);
      assert.equal(taken, 1);
      assert.equal(await up.metric('portcullis_audit_dropped_total'), 0);
    } finally {
      const started = performance.now();
      await up.close();
      assert.ok(performance.now() - started < 6000, 'the end does not wait for it for ever');
      remove();
    }
  });

  it('a file that cannot be written is counted and said; requests go on', async () => {
    const up = await running(config({ file: '/dev/full' }), { folder: folderWith(GATES).folder });
    try {
      for (let i = 0; i < 3; i++) assert.equal((await whole(`${up.url}/mcp`, tool('echo'))).status, 401);
      await until('the loss is counted', async () => (await up.metric('portcullis_audit_dropped_total')) === 3);
      assert.ok(up.log.lines.some(({ message }) => message === 'the audit could not be written'));
      assert.equal((await send(`${up.url}/open`, tool('echo'))).status, 200);
    } finally {
      await up.close();
    }
  });
});
