import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineFramer } from '../../src/wire/line.js';

function frame(chunks: readonly Uint8Array[], max_line_bytes?: number): string[] {
  const seen: string[] = [];
  const framer = new LineFramer({
    ...(max_line_bytes === undefined ? {} : { max_line_bytes }),
    onLine: (line) => seen.push(Buffer.from(line).toString()),
    onTooLong: () => seen.push('<too long>'),
  });
  for (const chunk of chunks) framer.push(chunk);
  framer.end();
  return seen;
}
const whole = (text: string, max?: number): string[] => frame([Buffer.from(text)], max);
const bytewise = (text: string, max?: number): string[] =>
  frame(
    Array.from(Buffer.from(text), (byte) => Buffer.of(byte)),
    max,
  );

test('only LF ends a line, one CR before it is tolerated, and the rest at EOF is a line', () => {
  const text = 'a\u2028b\u2029c\u0085d\r\ne\rf\r\r\n\n🜚';
  const lines = ['a\u2028b\u2029c\u0085d', 'e\rf\r', '', '🜚'];
  assert.deepEqual(whole(text), lines);
  assert.deepEqual(bytewise(text), lines);
});

test('a BOM is dropped at the start of the stream only', () => {
  assert.deepEqual(bytewise('\ufeffa\n\ufeffb\n'), ['a', '\ufeffb']);
});

test('a line of exactly the limit passes; a longer one is reported once and skipped', () => {
  const text = `\ufeff${'x'.repeat(8)}\r\n${'y'.repeat(9)}\r\n${'z'.repeat(40)}\nok\n${'w'.repeat(9)}`;
  const lines = ['x'.repeat(8), '<too long>', '<too long>', 'ok', '<too long>'];
  assert.deepEqual(whole(text, 8), lines);
  assert.deepEqual(bytewise(text, 8), lines);
});

test('any chunking gives the lines of the whole', () => {
  const piece = fc.oneof(fc.constantFrom('\n', '\r\n', '\r', '\ufeff', '\u2028', 'é', '🜚'), fc.string({ maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }), (pieces, sizes) => {
      const bytes = Buffer.from(pieces.join(''));
      const chunks: Buffer[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length]! + 1;
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      assert.deepEqual(frame(chunks, 10), frame([bytes], 10));
    }),
    { numRuns: 300 },
  );
});
