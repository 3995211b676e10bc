import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { methodsOf } from '../../../src/assembly/routing.js';
import { resolveConfig } from '../../../src/config/load.js';
import { CODES } from '../../../src/errors/codes.js';
import { verdictOn } from '../../../src/explain/head-checks.js';
import { RawHeaders, UNCLAIMED } from '../../../src/listener/request/head.js';
import { modernBody } from '../../demo/rpc.js';
import { type Listening, listening } from '../../support/listening.js';
import { HOSTS, type Mounted } from '../../support/mounted.js';
import { rawExchange } from '../../support/raw.js';

const BODY = modernBody('tools/list');
const RULES = { allowed_hosts: ['gw.test'], allowed_origins: ['https://app.test'] } as const;
const LIMIT = 2_000;

type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a client sends; a field that is undefined is left out, one with two values is repeated. */
const USUAL: Fields = {
  host: 'gw.test',
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'content-length': String(BODY.length),
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/list',
};

interface Row {
  readonly method?: string;
  readonly fields?: Fields;
  /** `passed`, or status and code. */
  readonly is: string;
  /** Where the mounts differ on purpose: they serve POST alone, and answer no preflight. */
  readonly mounted?: string;
}

const BAD_HOST = { host: 'other.test' };
const BAD_ORIGIN = { origin: 'https://evil.test' };
const NO_LENGTH = { 'content-length': undefined };
const BAD_TYPE = { 'content-type': 'text/plain' };
const BAD_ACCEPT = { accept: 'text/html' };
const BAD_CLAIM = { 'mcp-method': ['tools/list', 'tools/list'] };
const LEGACY = { 'mcp-protocol-version': '2025-11-25', 'mcp-method': undefined };
const PREFLIGHT = { origin: 'https://app.test', 'access-control-request-method': 'POST', ...NO_LENGTH };
const NOT_SERVED = '405 METHOD_NOT_ALLOWED';

const ROWS: readonly Row[] = [
  { is: 'passed' },
  // One fault each.
  { method: 'PUT', is: NOT_SERVED },
  { method: 'OPTIONS', fields: NO_LENGTH, is: NOT_SERVED },
  { fields: BAD_HOST, is: '403 HOST_NOT_ALLOWED' },
  { fields: BAD_ORIGIN, is: '403 ORIGIN_NOT_ALLOWED' },
  { fields: { origin: 'null' }, is: '403 ORIGIN_NOT_ALLOWED' },
  { fields: { origin: ['https://app.test', 'https://app.test'] }, is: '403 ORIGIN_NOT_ALLOWED' },
  { fields: { origin: 'https://app.test' }, is: 'passed' },
  { fields: { origin: 'http://localhost:3000' }, is: 'passed' },
  { fields: NO_LENGTH, is: '411 LENGTH_REQUIRED' },
  { fields: { ...NO_LENGTH, 'transfer-encoding': 'gzip, chunked' }, is: '411 LENGTH_REQUIRED' },
  { fields: { 'content-length': `00${BODY.length}` }, is: '400 BAD_REQUEST' },
  { fields: { 'content-length': String(LIMIT + 1) }, is: '413 BODY_TOO_LARGE' },
  { fields: BAD_TYPE, is: '415 MEDIA_TYPE' },
  { fields: { 'content-type': ['application/json', 'application/json'] }, is: '415 MEDIA_TYPE' },
  { fields: { 'content-encoding': 'gzip' }, is: '415 MEDIA_TYPE' },
  { fields: { 'content-encoding': ['identity', 'identity'] }, is: '415 MEDIA_TYPE' },
  { fields: { 'content-encoding': 'Identity' }, is: 'passed' },
  { fields: BAD_ACCEPT, is: '406 NOT_ACCEPTABLE' },
  { fields: { accept: 'application/json;q=0, text/event-stream;q=0' }, is: '406 NOT_ACCEPTABLE' },
  { fields: { accept: undefined }, is: 'passed' },
  { fields: { accept: 'application/json' }, is: 'passed' },
  { fields: BAD_CLAIM, is: '400 HEADER_MISMATCH' },
  { fields: { 'mcp-method': '' }, is: '400 HEADER_MISMATCH' },
  { fields: { 'mcp-method': 'tools/call' }, is: '400 HEADER_MISMATCH' },
  { fields: { 'mcp-param-a': ['1', '2'] }, is: '400 HEADER_MISMATCH' },
  { fields: { 'mcp-protocol-version': '2026-07-28, 2026-07-28' }, is: '400 HEADER_MISMATCH' },
  { fields: { ...LEGACY, 'mcp-param-a': '=?base64?*?=' }, is: '400 HEADER_MISMATCH' },
  // Two faults: the earlier one is answered.
  { method: 'PUT', fields: BAD_HOST, is: NOT_SERVED },
  { method: 'PUT', fields: BAD_ORIGIN, is: NOT_SERVED },
  { fields: { ...BAD_HOST, ...BAD_ORIGIN }, is: '403 HOST_NOT_ALLOWED' },
  { fields: { ...BAD_ORIGIN, ...NO_LENGTH }, is: '403 ORIGIN_NOT_ALLOWED' },
  { fields: { ...NO_LENGTH, ...BAD_TYPE }, is: '411 LENGTH_REQUIRED' },
  { fields: { 'content-length': String(LIMIT + 1), ...BAD_TYPE }, is: '413 BODY_TOO_LARGE' },
  { fields: { ...BAD_TYPE, ...BAD_ACCEPT }, is: '415 MEDIA_TYPE' },
  { fields: { ...BAD_ACCEPT, ...BAD_CLAIM }, is: '406 NOT_ACCEPTABLE' },
  // What the listener has and the mounts have not.
  { method: 'GET', fields: { ...LEGACY, ...NO_LENGTH }, is: 'passed', mounted: NOT_SERVED },
  { method: 'GET', fields: { ...LEGACY, ...NO_LENGTH, accept: 'application/json' }, is: '406 NOT_ACCEPTABLE', mounted: NOT_SERVED },
  { method: 'GET', fields: { ...LEGACY, 'content-length': '2' }, is: '400 BAD_REQUEST', mounted: NOT_SERVED },
  { method: 'GET', fields: NO_LENGTH, is: NOT_SERVED },
  { method: 'DELETE', fields: { ...LEGACY, ...NO_LENGTH, ...BAD_ACCEPT }, is: 'passed', mounted: NOT_SERVED },
  { method: 'OPTIONS', fields: PREFLIGHT, is: 'passed', mounted: NOT_SERVED },
  { method: 'OPTIONS', fields: { ...PREFLIGHT, ...BAD_ORIGIN }, is: '403 ORIGIN_NOT_ALLOWED', mounted: NOT_SERVED },
  { method: 'OPTIONS', fields: { ...PREFLIGHT, ...BAD_HOST }, is: '403 HOST_NOT_ALLOWED', mounted: NOT_SERVED },
];

const linesOf = (fields: Fields): readonly (readonly [string, string])[] =>
  Object.entries(fields).flatMap(([name, value = []]) => [value].flat().map((one) => [name, one] as const));

async function sent(port: number, { method = 'POST', fields }: Row): Promise<string> {
  const lines = linesOf({ ...USUAL, ...fields }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { text, statuses } = await rawExchange(port, [
    `${method} /mcp HTTP/1.1\r\nConnection: close\r\n${lines.join('')}\r\n${method === 'POST' ? BODY : ''}`,
  ]);
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1];
  return statuses[0] !== undefined && statuses[0] < 400 ? 'passed' : `${statuses[0]} ${code}`;
}

const { config } = resolveConfig(
  {
    listener: { public_url: 'http://gw.test', ...RULES, limits: { max_body_bytes: LIMIT }, cors: true },
    ops: { enabled: false },
    runtimes: { a: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
    routes: [{ path: '/mcp', public: true, runtime: 'a' }],
  },
  { folder: '.' },
);

function explained({ method = 'POST', fields }: Row): string {
  const headers = new RawHeaders(linesOf({ ...USUAL, ...fields }).flat());
  const peer = { address: '127.0.0.1', trusted: false, client_address: '127.0.0.1', tls: undefined };
  const head = { id: '', method, path: '/mcp', query: '', headers, peer, claims: UNCLAIMED, received_at_ms: 0 };
  const { fault } = verdictOn(head, { kind: 'mcp', methods: methodsOf('mcp', config) }, config);
  return fault === undefined ? 'passed' : `${CODES[fault.code].status} ${fault.code}`;
}

describe('one head, three users', () => {
  let up: Listening;
  let mounted: Mounted;
  before(async () => {
    up = await listening({
      limits: { max_body_bytes: LIMIT },
      options: { ...RULES, cors: true, chunked: true },
      handle: (call, exchange) =>
        exchange.respond(200, [], Buffer.from(`{"jsonrpc":"2.0","id":${call.kind === 'request' ? call.id : 0},"result":{}}`), 'ok'),
      public_url: 'http://gw.test',
    });
    mounted = await HOSTS.node!({ ...RULES, max_body_bytes: LIMIT });
  });
  after(async () => {
    await up.close();
    await mounted.close();
  });

  for (const row of ROWS) {
    const { method = 'POST', fields = {}, is } = row;
    it(`${method} ${JSON.stringify(fields, (_, value) => value ?? null)}: ${is}`, async () => {
      assert.deepEqual(
        { listener: await sent(up.port, row), mount: await sent(mounted.port, row), explain: explained(row) },
        { listener: is, mount: row.mounted ?? is, explain: is },
      );
    });
  }
});
