import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ChunkedDecoder, MAX_EXTRA_BYTES } from '../../src/upstream/chunked.js';
import { UpstreamFailure } from '../../src/upstream/exchange.js';

/** Decodes `wire` in reads that end at `cuts`; how many pushes gave data, the data, and where the body ended. */
function decode(wire: Buffer, cuts: readonly number[]): { data: Buffer; end: number; done: boolean; given: number } {
  const decoder = new ChunkedDecoder();
  const data: Buffer[] = [];
  const ends = [...new Set(cuts.map((cut) => cut % (wire.length + 1)))].sort((a, b) => a - b);
  let at = 0;
  for (const end of [...ends, wire.length]) {
    const read = Buffer.from(wire.subarray(at, end));
    const stop = decoder.push(read, 0);
    if (decoder.to > decoder.from) data.push(Buffer.from(read.subarray(decoder.from, decoder.to)));
    at += stop;
    if (decoder.done) break;
  }
  return { data: Buffer.concat(data), end: at, done: decoder.done, given: data.length };
}

const all = (wire: string): ReturnType<typeof decode> => decode(Buffer.from(wire, 'latin1'), []);
const refused = (wire: string): void => {
  for (const cuts of [[], Array.from({ length: wire.length }, (_, i) => i)])
    assert.throws(() => decode(Buffer.from(wire, 'latin1'), cuts), UpstreamFailure, JSON.stringify(wire.slice(0, 60)));
};

const extension = fc.constantFrom('', ';a', ';a=b', ' ;a="b c;d"', '\t; x=\xff', ';');
const trailers = fc.constantFrom('', 'X-A: b\r\n', 'a:\r\nb:\t\xff\r\n', 'Content-Length: 9\r\n');
const chunk = fc.record({ bytes: fc.uint8Array({ minLength: 1, maxLength: 70 }), extension, pad: fc.nat(4), upper: fc.boolean() });

describe('upstream: a chunked body', () => {
  it('any body in any chunks under any cut of reads is the same bytes and ends exactly behind the last', () => {
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 12 }),
        trailers,
        fc.array(fc.nat(2000), { maxLength: 20 }),
        fc.string(),
        (chunks, tail, cuts, behind) => {
          const parts = chunks.flatMap(({ bytes, extension, pad, upper }) => {
            const size = '0'.repeat(pad) + bytes.length.toString(16);
            return [Buffer.from(`${upper ? size.toUpperCase() : size}${extension}\r\n`, 'latin1'), Buffer.from(bytes), Buffer.from('\r\n')];
          });
          const body = Buffer.concat([...parts, Buffer.from(`0\r\n${tail}\r\n`, 'latin1')]);
          const got = decode(Buffer.concat([body, Buffer.from(behind)]), cuts);
          assert.deepEqual(got.data, Buffer.concat(chunks.map(({ bytes }) => bytes)));
          assert.equal(got.end, body.length);
          assert.ok(got.done);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('all chunks of one read are one piece', () => {
    const got = all(`${'1\r\nx\r\n'.repeat(10_000)}40\r\n${'y'.repeat(64)}\r\n0\r\n\r\n`);
    assert.equal(got.given, 1);
    assert.equal(got.data.toString(), 'x'.repeat(10_000) + 'y'.repeat(64));
  });

  it('what came before a fault in the same read is there', () => {
    const decoder = new ChunkedDecoder();
    const read = Buffer.from('2\r\nab\r\n1\r\nc\r\nzz\r\n');
    assert.throws(() => decoder.push(read, 0), UpstreamFailure);
    assert.equal(read.toString('latin1', decoder.from, decoder.to), 'abc');
  });

  it('it is not done before its last byte', () => {
    const wire = '3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n';
    for (let i = 0; i < wire.length; i++) assert.equal(all(wire.slice(0, i)).done, false, String(i));
    assert.equal(all(wire).done, true);
  });

  it('sizes that are not hexadecimal digits alone are refused', () => {
    for (const size of ['', 'g', '+1', '-1', '0x1', '1_0', ' 1', '\t1', '1 1', '1 x', '1.', '1,1', '"1"', '\xb2', '1 \r', '1\t\t'])
      refused(`${size}\r\na\r\n0\r\n\r\n`);
    refused(`${'0'.repeat(12)}1\r\na\r\n0\r\n\r\n`);
    refused(`${'f'.repeat(13)}\r\n`);
    assert.equal(all(`${'0'.repeat(11)}1\r\na\r\n0\r\n\r\n`).data.toString(), 'a');
  });

  it('lines and data that do not end in CRLF are refused', () => {
    for (const wire of [
      '1\na\r\n0\r\n\r\n',
      '1\r\na\n0\r\n\r\n',
      '1\r\nab\r\n0\r\n\r\n',
      '2\r\na\r\n0\r\n\r\n',
      '1\r\ra\r\n',
      '1\r\na\r\r0\r\n\r\n',
      '1\r\na0\r\n\r\n',
      '1;a\nb\r\n',
      '1;a\r0\r\n',
      '0\n\r\n',
      '0\r\n\n',
      '0\r\nX: y\n\r\n',
      '0\r\nX: y\r\r\n',
      '0\r\n\r\r',
      '\r\n0\r\n\r\n',
    ])
      refused(wire);
  });

  it('control characters in an extension or a trailer, and trailers that are no fields, are refused', () => {
    for (const byte of ['\0', '\x01', '\x0b', '\x1f', '\x7f', '\n']) {
      refused(`1;a${byte}\r\na\r\n0\r\n\r\n`);
      refused(`0\r\nX: a${byte}\r\n\r\n`);
      refused(`0\r\nX${byte}: a\r\n\r\n`);
    }
    for (const line of ['X', ': y', ' folded', 'X : y', 'HTTP/1.1 200 OK', 'X: y\r\n folded']) refused(`0\r\n${line}\r\n\r\n`);
  });

  it('extensions of a chunk and trailers are bounded, however many chunks there are', () => {
    const long = 'a'.repeat(MAX_EXTRA_BYTES);
    assert.ok(all(`1;${long}\r\nx\r\n1;${long}\r\nx\r\n0\r\n\r\n`).done);
    refused(`1;${long}a\r\nx\r\n0\r\n\r\n`);
    refused(`0\r\nx:${long}\r\n\r\n`);
    refused(`1 ${' '.repeat(MAX_EXTRA_BYTES)};\r\n`);
    refused(`0\r\n${'a:\r\n'.repeat(MAX_EXTRA_BYTES)}\r\n`);
  });
});
