import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkParamHeaders } from '../../src/core/define/param-headers.js';
import { admitHttp } from '../../src/core/http/admit.js';
import { HostPolicy, OriginPolicy } from '../../src/core/http/check-head.js';
import { readClaims } from '../../src/dialect/claims.js';
import { RemoteAddresses } from '../../src/listener/request/remote-address.js';
import { preflightHeaders } from '../../src/listener/request/reply.js';
import { wantsHtml } from '../../src/page/request-checks.js';
import { readUpstreamHead } from '../../src/runtime/answer/answer.js';
import { httpResponseHeaders } from '../../src/runtime/http/http-request.js';
import { wantsOpenMetrics } from '../../src/telemetry/expose.js';
import { makeHead } from '../../src/testing.js';
import { parseTraceParent } from '../../src/tracing/request-spans.js';
import {
  accepts,
  essenceOf,
  isFieldValue,
  isJsonType,
  isToken,
  isTokenByte,
  isVisible,
  listedIn,
  prefers,
  trimOws,
  weightOf,
} from '../../src/wire/field.js';
import { withOddSpaces } from '../support/odd-spaces.js';

const headers = (fields: Readonly<Record<string, string>>) => makeHead({ headers: fields }).headers;
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'say' };
const claimed = (fields: Readonly<Record<string, string>>) => {
  const claims = readClaims(headers({ ...MODERN, ...fields }), 'POST');
  return claims.ok ? claims.value : undefined;
};
const MOUNT = { origin: 'http://up', base: '', prefix: '/ui', redirects: 'own', public_origin: undefined } as const;
const PARAMS = [{ header: 'mcp-param-city', path: ['city'], type: 'string' }] as never;

/** For each field a value that counts, and whether a text is taken for it. */
const FIELDS: readonly (readonly [string, string, (sent: string) => boolean])[] = [
  ['Content-Type', 'application/json', isJsonType],
  ['Content-Type: charset', 'utf-8', (sent) => isJsonType(`application/json; charset=${sent}`)],
  ['Content-Type: charset, quoted', 'utf8', (sent) => isJsonType(`application/json;charset="${sent}"`)],
  ['Content-Type of an upstream', 'application/json', (sent) => readUpstreamHead(200, ['content-type', sent], undefined).media === 'json'],
  ['Content-Type, its essence', 'text/event-stream', (sent) => essenceOf(sent) === 'text/event-stream'],
  ['Content-Encoding', 'identity', (sent) => !refusedAs(admitHttp(plain({ 'content-encoding': sent })), 'MEDIA_TYPE')],
  ['Accept', 'application/json', (sent) => accepts([sent]).json],
  ['Accept: a second range', 'text/event-stream', (sent) => accepts([`text/html, ${sent}`]).events],
  ['Accept: a weight of zero', '0', (sent) => !accepts([`*/*;q=${sent}`]).json],
  ['Accept of the ops listener', 'application/openmetrics-text', wantsOpenMetrics],
  ['Accept of the ops listener, its weight', '1', (sent) => wantsOpenMetrics(`application/openmetrics-text;q=${sent}`)],
  ['Accept of the status page', 'text/html', wantsHtml],
  ['Connection of an upstream', 'x-secret', (sent) => hidden(sent)],
  [
    'Connection of an http upstream',
    'x-secret',
    (sent) => httpResponseHeaders({ connection: sent, 'x-secret': '1' }, MOUNT, 'http://up/')?.length === 0,
  ],
  ['Origin', 'http://localhost', (sent) => new OriginPolicy([], 'https://gw.example').isAllowed(sent)],
  ['Host', 'gw.example', (sent) => new HostPolicy(['gw.example']).isAllowed(headers({ host: sent }), false)],
  ['X-Forwarded-Host', 'gw.example', (sent) => new HostPolicy(['gw.example']).isAllowed(headers({ 'x-forwarded-host': sent }), true)],
  ['X-Forwarded-For', '192.0.2.1', (sent) => forwarded(sent) === '192.0.2.1'],
  ['X-Forwarded-For: a hop', '192.0.2.1', (sent) => forwarded(`198.51.100.1, ${sent}`) === '192.0.2.1'],
  [
    'Access-Control-Request-Headers',
    'mcp-param-x',
    (sent) => preflightHeaders('o', 'POST', sent).some((value) => /, mcp-param-x$/.test(value)),
  ],
  ['MCP-Protocol-Version', '2026-07-28', (sent) => claimed({ 'mcp-protocol-version': sent })?.revision === '2026-07-28'],
  ['Mcp-Method', 'tools/call', (sent) => claimed({ 'mcp-method': sent })?.method === 'tools/call'],
  ['Mcp-Name', 'say', (sent) => claimed({ 'mcp-name': sent })?.name === 'say'],
  ['Mcp-Param-*', 'Rome', (sent) => checkParamHeaders(PARAMS, headers({ 'mcp-param-city': sent }), { city: 'Rome' }) === undefined],
  ['tracestate', 'a=1', (sent) => parseTraceParent(PARENT, sent)?.traceState?.get('a') === '1'],
];

function plain(fields: Readonly<Record<string, string>>) {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...fields }, body: Buffer.from('{}') };
}

function refusedAs(found: ReturnType<typeof admitHttp>, code: string): boolean {
  return found.kind === 'response' && Buffer.from(found.body).toString().includes(code);
}

function hidden(connection: string): boolean {
  const { relayed } = readUpstreamHead(200, ['connection', connection, 'x-secret', '1'], undefined);
  return !relayed.includes('x-secret');
}

function forwarded(hops: string): string {
  const peer = { address: '10.0.0.1', trusted: true, client_address: '10.0.0.1', tls: undefined };
  return new RemoteAddresses(['10.0.0.0/8', '198.51.100.1']).clientAddress(peer, headers({ 'x-forwarded-for': hops }));
}

describe('optional white space is SP and HTAB only', () => {
  for (const [field, value, taken] of FIELDS)
    it(field, () => {
      assert.equal(taken(value), true, 'the value itself');
      for (const { what, sent } of withOddSpaces(value)) assert.equal(taken(sent), false, what);
    });

  const spaced = FIELDS.filter(([field]) => !/Host|Origin|charset|weight/.test(field));
  for (const [field, value, taken] of spaced)
    it(`${field} with spaces and tabs around it`, () => {
      for (const sent of [` ${value}`, `${value}\t`, `\t ${value} \t`]) assert.equal(taken(sent), true, JSON.stringify(sent));
    });

  it('is all that is trimmed', () => {
    for (let code = 0; code < 0x3001; code++) {
      const odd = String.fromCharCode(code);
      const blank = odd === ' ' || odd === '\t';
      assert.equal(trimOws(`${odd}a${odd}b${odd}`), blank ? `a${odd}b` : `${odd}a${odd}b${odd}`, `U+${code.toString(16)}`);
    }
    assert.deepEqual([trimOws(''), trimOws(' \t '), trimOws('a')], ['', '', 'a']);
  });

  it('lists have no empty elements, and weights are 0 to 1', () => {
    assert.deepEqual(listedIn(' Close,, keep-Alive ,\t,x'), ['close', 'keep-alive', 'x']);
    assert.deepEqual(listedIn(''), []);
    for (const [weight, value] of [
      ['q=0', 0],
      ['q=0.', 0],
      ['q=0.000', 0],
      ['q=0.5', 0.5],
      ['q=1.000', 1],
    ] as const)
      assert.equal(weightOf([weight]), value, weight);
    for (const weight of ['q=', 'q= 0', 'q=0x0', 'q=1.1', 'q=2', 'q=-0', 'q=1e-9', 'q=\xa00'])
      assert.ok(Number.isNaN(weightOf([weight])), weight);
    assert.equal(weightOf(['charset=utf-8']), 1);
  });
});

describe('JSON types', () => {
  it('are UTF-8, however that is spelt', () => {
    for (const charset of ['utf-8', 'UTF-8', 'utf8', 'UTF8', '"utf-8"', '"UTF-8"', '"utf8"', '"Utf8"'])
      for (const type of [
        `application/json; charset=${charset}`,
        `Application/JSON;charset=${charset}`,
        `application/json ;\tCharset=${charset} `,
      ])
        assert.equal(isJsonType(type), true, type);
  });

  it('have no other charset and no other parameter', () => {
    const bad = [
      'utf-16',
      'utf-8859-1',
      'latin1',
      'us-ascii',
      'utf-7',
      'utf 8',
      'utf_8',
      '"utf-8',
      'utf-8"',
      "'utf-8'",
      '',
      '""',
      ' utf-8',
    ];
    for (const type of [...bad.map((charset) => `application/json; charset=${charset}`), 'application/json; charset=utf-8; charset=utf-8'])
      assert.equal(isJsonType(type), false, type);
    for (const type of ['application/json; version=1', 'application/json; charset=utf-8; a=b', 'application/jsonp', 'text/json', undefined])
      assert.equal(isJsonType(type), false, String(type));
  });
});

describe('character classes', () => {
  const marks = "!#$%&'*+-.^_`|~";

  it('tokens, field values and visible ASCII differ in what they admit', () => {
    for (let code = 0; code < 0x400; code++) {
      const character = String.fromCharCode(code);
      const visible = code > 0x20 && code < 0x7f;
      const token = /[A-Za-z0-9]/.test(character) || marks.includes(character);
      const field = code === 0x09 || (code >= 0x20 && code < 0x7f) || (code >= 0x80 && code <= 0xff);
      assert.equal(isTokenByte(code), token, `U+${code.toString(16)}`);
      for (const text of [character, `a${character}`, `${character}a`])
        assert.deepEqual([isToken(text), isVisible(text), isFieldValue(text)], [token, visible, field], JSON.stringify(text));
    }
  });

  it('have bounds, and only a field value may be empty', () => {
    assert.deepEqual([isToken(''), isVisible(''), isFieldValue('')], [false, false, true]);
    assert.deepEqual(
      [128, 129].map((length) => isToken('x'.repeat(length))),
      [true, false],
    );
    assert.deepEqual(
      [4, 5].map((length) => isVisible('x'.repeat(length), 4)),
      [true, false],
    );
  });
});

describe('a preference in Accept', () => {
  it('is for a type that is named and weighs no less than the other', () => {
    const prefersB = (accept: string | undefined) => prefers(accept, 'a/b', 'c/d');
    for (const accept of ['a/b', 'c/d, A/B', 'a/b;q=0.5, c/d;q=0.5', 'c/d;q=2, a/b;q=0.1', 'c/d;q=0.9, a/b;q=0.1, a/b']) {
      assert.equal(prefersB(accept), true, accept);
    }
    for (const accept of [undefined, '', '*/*', 'a/*', 'c/d', 'a/b;q=0', 'a/b;q=2', 'a/b;q=0.4, c/d;q=0.5']) {
      assert.equal(prefersB(accept), false, accept);
    }
    assert.deepEqual(
      [4096, 4097].map((length) => prefersB('a/b'.padEnd(length))),
      [true, false],
    );
  });
});
