import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Listening, listening } from '../../support/listening.js';
import { rawExchange } from '../../support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const SIZE = PING.length.toString(16);
const WHOLE = `${SIZE}\r\n${PING}\r\n0\r\n\r\n`;
const head = (coding: string, more = '', version = '1.1'): string =>
  `POST /mcp HTTP/${version}\r\nHost: a\r\nContent-Type: application/json\r\n${more}${coding}\r\nConnection: close\r\n\r\n`;
const CHUNKED = head('Transfer-Encoding: chunked');

/** What each request comes to while chunked bodies are accepted: 200 with one call, or refused and closed without one. */
const CASES: readonly (readonly [string, string, 200 | 'refused'])[] = [
  ['one chunk', CHUNKED + WHOLE, 200],
  ['the coding in capitals', head('Transfer-Encoding: Chunked') + WHOLE, 200],
  ['white space around the coding', head('Transfer-Encoding:   chunked ') + WHOLE, 200],
  ['two chunks', `${CHUNKED}5\r\n${PING.slice(0, 5)}\r\n${(PING.length - 5).toString(16)}\r\n${PING.slice(5)}\r\n0\r\n\r\n`, 200],
  ['a size in capitals, with zeros in front', `${CHUNKED}000${SIZE.toUpperCase()}\r\n${PING}\r\n0\r\n\r\n`, 200],
  ['an extension, which is ignored', `${CHUNKED}${SIZE};a=b\r\n${PING}\r\n0\r\n\r\n`, 200],
  ['a trailer, which nothing reads', `${CHUNKED}${SIZE}\r\n${PING}\r\n0\r\nX-Checksum: 1\r\n\r\n`, 200],
  ['Content-Length before', head('Transfer-Encoding: chunked', `Content-Length: ${PING.length}\r\n`) + WHOLE, 'refused'],
  ['Content-Length behind', head(`Transfer-Encoding: chunked\r\nContent-Length: ${PING.length}`) + WHOLE, 'refused'],
  ['another coding', head('Transfer-Encoding: xchunked') + WHOLE, 'refused'],
  ['chunked, gzip', head('Transfer-Encoding: chunked, gzip') + WHOLE, 'refused'],
  ['gzip, chunked', head('Transfer-Encoding: gzip, chunked') + WHOLE, 'refused'],
  ['chunked, chunked', head('Transfer-Encoding: chunked, chunked') + WHOLE, 'refused'],
  ['chunked, identity', head('Transfer-Encoding: chunked, identity') + WHOLE, 'refused'],
  ['identity', head('Transfer-Encoding: identity') + WHOLE, 'refused'],
  ['an empty coding', head('Transfer-Encoding:') + WHOLE, 'refused'],
  ['a parameter', head('Transfer-Encoding: chunked;q=1') + WHOLE, 'refused'],
  ['quotes', head('Transfer-Encoding: "chunked"') + WHOLE, 'refused'],
  ['the field twice', head('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked') + WHOLE, 'refused'],
  ['the field twice, one other', head('Transfer-Encoding: identity\r\nTransfer-Encoding: chunked') + WHOLE, 'refused'],
  ['HTTP/1.0', head('Transfer-Encoding: chunked', '', '1.0') + WHOLE, 'refused'],
  ['a folded field', head('Transfer-Encoding:\r\n chunked') + WHOLE, 'refused'],
  ['a space before the colon', head('Transfer-Encoding : chunked') + WHOLE, 'refused'],
  ['an underscore in the name', head('Transfer_Encoding: chunked') + WHOLE, 'refused'],
  ['a bare line feed behind the size', `${CHUNKED}${SIZE}\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['a bare line feed behind the data', `${CHUNKED}${SIZE}\r\n${PING}\n0\r\n\r\n`, 'refused'],
  ['a bare line feed in an extension', `${CHUNKED}${SIZE};a\nb\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['no line break behind the data', `${CHUNKED}${SIZE}\r\n${PING}0\r\n\r\n`, 'refused'],
  ['a size of 0x28', `${CHUNKED}0x${SIZE}\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['a size of +28', `${CHUNKED}+${SIZE}\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['a size of -28', `${CHUNKED}-${SIZE}\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['a size with a space in front', `${CHUNKED} ${SIZE}\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['no size', `${CHUNKED}\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['a size beyond 64 bits', `${CHUNKED}1${'0'.repeat(16)}${SIZE}\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['an extension of 20 000 bytes', `${CHUNKED}${SIZE};${'a'.repeat(20_000)}\r\n${PING}\r\n0\r\n\r\n`, 'refused'],
  ['a trailer of 40 000 bytes', `${CHUNKED}${SIZE}\r\n${PING}\r\n0\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 'refused'],
  ['a body on DELETE', CHUNKED.replace('POST', 'DELETE') + WHOLE, 'refused'],
  ['a chunk over max_body_bytes', `${CHUNKED}186a1\r\n${' '.repeat(100_001)}\r\n0\r\n\r\n`, 'refused'],
];

describe('chunked requests that are accepted', () => {
  let up: Listening;
  before(async () => {
    up = await listening({ options: { chunked: true } });
  });
  after(() => up.close());

  for (const [what, wire, right] of CASES)
    test(`${what}: ${right}`, async () => {
      const calls = up.calls.length;
      const { statuses, text, end } = await rawExchange(up.port, [wire], 10_000);
      assert.notEqual(end, 'open');
      assert.equal(statuses.length, 1, text);
      if (right === 200) assert.deepEqual([statuses, up.calls.length, up.calls.at(-1)?.body.toString()], [[200], calls + 1, PING]);
      else {
        assert.ok([400, 411, 413, 431].includes(statuses[0] ?? 0), text);
        assert.equal(up.calls.length, calls);
      }
    });

  test('one that stops is 408, one that is too large is refused before its end', async () => {
    const stopped = await rawExchange(up.port, [`${CHUNKED}${SIZE}\r\n{`], 10_000);
    assert.deepEqual([stopped.statuses, stopped.end], [[408], 'closed']);
    const endless = await rawExchange(up.port, [`${CHUNKED}fffffff\r\n`, ' '.repeat(100_001)], 10_000);
    assert.deepEqual([endless.statuses, endless.end], [[413], 'closed']);
    assert.match(endless.text, /"code":"BODY_TOO_LARGE"/);
    assert.ok((up.counts.get('headRefused BODY_TOO_LARGE') ?? 0) >= 1);
  });

  test('100 Continue comes once the gates have admitted it', async () => {
    const asked = head('Transfer-Encoding: chunked', 'Expect: 100-continue\r\n');
    const answer = await rawExchange(up.port, [asked, 100, WHOLE], 10_000);
    assert.match(answer.text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    const gated = await listening({
      options: { chunked: true },
      gate: { decide: () => ({ kind: 'refuse', status: 401, code: 'TOKEN_REQUIRED' }) },
    });
    const refused = await rawExchange(gated.port, [asked], 10_000);
    assert.deepEqual([refused.statuses, refused.text.includes('100 Continue'), gated.calls.length], [[401], false, 0]);
    await gated.close();
  });

  test('a connection goes on with the next request behind a chunked one', async () => {
    const kept = `${CHUNKED.replace('Connection: close\r\n', '')}${WHOLE}`;
    const calls = up.calls.length;
    const answer = await rawExchange(up.port, [kept, 150, kept, 150, CHUNKED + WHOLE], 10_000);
    assert.deepEqual([answer.statuses, up.calls.length - calls, answer.end], [[200, 200, 200], 3, 'closed']);
  });
});
