import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamFailure } from '../../src/upstream/exchange.js';
import { MAX_FIELDS, parseResponseHead } from '../../src/upstream/response-head.js';

const parse = (...lines: readonly string[]): ReturnType<typeof parseResponseHead> => parseResponseHead(lines.join('\r\n'));
const ok = 'HTTP/1.1 200 OK';
const refused = (lines: readonly string[], why: RegExp): void =>
  assert.throws(
    () => parse(...lines),
    (error: unknown) => error instanceof UpstreamFailure && error.code === 'BAD_ANSWER' && why.test(error.message),
    JSON.stringify(lines),
  );

describe('upstream: the head of an answer', () => {
  it('names are lower case, values as sent without blanks around them, every byte kept', () => {
    const head = parse(
      'HTTP/1.1 404 Not\tFound \xe4',
      'X-A:  b c\t',
      'x-a:',
      "!#$%&'*+-.^_`|~09aZ: \xff\x80 \t d:e\t ",
      'Content-Length: 0',
    );
    assert.equal(head.status, 404);
    assert.deepEqual(head.fields, ['x-a', 'b c', 'x-a', '', "!#$%&'*+-.^_`|~09az", '\xff\x80 \t d:e', 'content-length', '0']);
  });

  it('a status line needs no reason and no field', () => {
    for (const line of ['HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.1 200 \t'])
      assert.deepEqual([parse(line).status, parse(line).framing], [200, 'close']);
    assert.equal(parse('HTTP/1.1 100').status, 100);
    assert.equal(parse('HTTP/1.1 999 x').status, 999);
  });

  it('a status line of another kind is refused', () => {
    const versions = ['HTTP/2.0 200 OK', 'HTTP/1.2 200 OK', 'HTTP/1.10 200 OK', 'http/1.1 200 OK', 'HTTP/1.1', 'ICY 200 OK'];
    for (const line of [...versions, '', ' HTTP/1.1 200 OK', 'HTTP/1.1\t200 OK', 'HTTP/0.9 200 OK']) refused([line], /not HTTP\/1\.1/);
    for (const status of [' 200', '99', '20', '2', '1000', '099', '000', '20x', '+20', '-20', '2 0', '200x', '200\tOK', '²00'])
      refused([`HTTP/1.1 ${status}`], /status/);
    for (const byte of ['\0', '\n', '\r', '\x0b', '\x1f', '\x7f']) refused([`HTTP/1.1 200 O${byte}K`], /control/);
  });

  it('a field line of another kind is refused', () => {
    for (const line of [
      'X : y',
      ': y',
      'X',
      'X y: z',
      ' X: y',
      '\tX: y',
      'X\t: y',
      '\xe4: y',
      'X\0: y',
      'X\x7f: y',
      '(x): y',
      'X\n: y',
      '"x": y',
    ])
      refused([ok, line], /name/);
    refused([ok, 'X: y', ' folded'], /name/);
    refused([ok, 'X: y', '\tfolded: too'], /name/);
    for (const byte of ['\0', '\n', '\r', '\x01', '\x0b', '\x1f', '\x7f']) {
      refused([ok, `X: a${byte}b`], /control/);
      refused([ok, `X: a${byte}`], /control/);
    }
    refused([ok, 'X: a\nContent-Length: 3'], /control/);
  });

  it('256 fields are taken, 257 are not', () => {
    const fields = Array.from({ length: MAX_FIELDS }, (_, i) => `x${i}: y`);
    assert.equal(parse(ok, ...fields).fields.length, 2 * MAX_FIELDS);
    refused([ok, ...fields, 'z: y'], /too many/);
  });

  it('one Content-Length of digits frames a body', () => {
    for (const [value, length] of [
      ['0', 0],
      ['5', 5],
      ['007', 7],
      ['999999999999999', 999_999_999_999_999],
    ] as const) {
      const head = parse(ok, `Content-Length: ${value}`);
      assert.deepEqual([head.framing, head.length, head.keeps], ['length', length, true]);
    }
    for (const value of ['', '5, 5', '5,5', '+5', '-5', '5 5', '0x5', '5.0', '5e1', '1000000000000000', '٥', '5;', '"5"', '\xb2'])
      refused([ok, `Content-Length: ${value}`], /not a number/);
    refused([ok, 'Content-Length: 5', 'content-length: 5'], /repeated/);
    refused([ok, 'Content-Length: 5', 'CONTENT-LENGTH: 6'], /repeated/);
  });

  it('chunked is the only coding, once, and never beside a length or in HTTP/1.0', () => {
    for (const value of ['chunked', 'Chunked', 'CHUNKED', ' chunked ']) {
      const head = parse(ok, `Transfer-Encoding:${value}`);
      assert.deepEqual([head.framing, head.length, head.keeps], ['chunked', 0, true]);
    }
    for (const value of ['gzip', 'gzip, chunked', 'chunked, chunked', 'chunked;q=1', 'identity', '', 'xchunked', 'chunked,', '\x0bchunked'])
      assert.throws(() => parse(ok, `Transfer-Encoding: ${value}`), UpstreamFailure, value);
    refused([ok, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], /not chunked/);
    refused([ok, 'Transfer-Encoding: chunked', 'Content-Length: 5'], /both/);
    refused([ok, 'Content-Length: 0', 'Transfer-Encoding: chunked'], /both/);
    refused(['HTTP/1.0 200 OK', 'Transfer-Encoding: chunked'], /HTTP\/1\.0/);
    refused(['HTTP/1.1 204', 'Transfer-Encoding: chunked', 'Content-Length: 5'], /both/);
  });

  it('1xx, 204 and 304 have no body; one that seems to have a body is not trusted', () => {
    for (const status of [204, 304]) {
      const fields = (...lines: string[]): unknown[] => {
        const { framing, length, keeps } = parse(`HTTP/1.1 ${status}`, ...lines);
        return [framing, length, keeps];
      };
      assert.deepEqual(fields(), ['none', 0, true]);
      assert.deepEqual(fields('Content-Length: 0'), ['none', 0, true]);
      assert.deepEqual(fields('Content-Length: 5'), ['none', 0, false]);
      assert.deepEqual(fields('Transfer-Encoding: chunked'), ['none', 0, false]);
    }
    assert.equal(parse('HTTP/1.1 103 Early', 'Link: x').framing, 'none');
    refused(['HTTP/1.1 103 Early', 'Content-Length: 5'], /informational/);
    refused(['HTTP/1.1 100 Continue', 'Transfer-Encoding: chunked'], /informational/);
  });

  it('a connection is kept when version, framing and Connection allow it', () => {
    const keeps = (...lines: string[]): boolean => parse(ok, 'Content-Length: 0', ...lines).keeps;
    for (const value of ['keep-alive', 'Keep-Alive', '', 'upgrade', 'x-close', 'closed', 'close-x'])
      assert.ok(keeps(`Connection: ${value}`), value);
    for (const value of ['close', 'Close', 'CLOSE', 'keep-alive, close', 'close,keep-alive', 'x,\tCloSe ,y', ',close'])
      assert.ok(!keeps(`Connection: ${value}`), value);
    assert.ok(!keeps('Connection: keep-alive', 'connection: close'));
    assert.ok(!keeps('Connection: close', 'connection: keep-alive'));
    assert.ok(!keeps('Connection:', 'connection: close'));
    assert.ok(!parse('HTTP/1.0 200 OK', 'Content-Length: 0', 'Connection: keep-alive').keeps);
    assert.ok(!parse(ok, 'Connection: keep-alive').keeps);
  });

  it('Keep-Alive says how long, the shortest of all that are there', () => {
    const idle = (...values: string[]): number | undefined => parse(ok, ...values.map((value) => `Keep-Alive: ${value}`)).idle_s;
    for (const [value, seconds] of [
      ['timeout=5', 5],
      ['timeout=5, max=100', 5],
      ['max=100, Timeout=15', 15],
      ['max=3,timeout=0', 0],
    ] as const)
      assert.equal(idle(value), seconds, value);
    for (const value of ['', 'max=5', 'timeout', 'timeout=', 'timeout="5"', 'timeout=-1', 'xtimeout=5', 'timeout = 5'])
      assert.equal(idle(value), undefined, value);
    assert.equal(idle('timeout=9', 'timeout=3', 'max=5'), 3);
    assert.equal(idle('timeout=3', 'timeout=9'), 3);
    assert.equal(idle(), undefined);
  });
});
