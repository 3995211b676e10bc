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

test('a long line tells whose answer it is as soon as its bytes say it, and its size at its end', () => {
  const padding = 'x'.repeat(200);
  const rows: readonly (readonly [text: string, early: string, late: string])[] = [
    [`{"jsonrpc":"2.0","id":7,"result":{"text":"${padding}"}}`, 'response 7', 'response 7'],
    [`{"result":{"id":1,"text":"\\"id\\":9}${padding}"},"jsonrpc":"2.0","id":"7"}`, 'response -', 'response "7"'],
    [`{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"text":"${padding}"}}`, 'request 7', 'request 7'],
    [`{"method":"roots/list","params":{"text":"${padding}"},"jsonrpc":"2.0","id":7}`, 'notification -', 'request 7'],
    [`{"id":null,"result":"${padding}"}`, 'response -', 'response -'],
    [`${padding}{"jsonrpc":"2.0","id":7,"result":{}}`, 'other -', 'other -'],
    [`[{"jsonrpc":"2.0","id":7,"result":{}},"${padding}"]`, 'other -', 'other -'],
    [`{"result":"${padding.repeat(4)}","id":7}`, 'response -', 'response -'],
  ];
  for (const [text, early, late] of rows)
    for (const step of [1, 50, text.length + 1]) {
      const seen: string[] = [];
      const framer = new LineFramer({
        max_line_bytes: 100,
        onLine: (line) => void seen.push(Buffer.from(line).toString()),
        onTooLong: ({ answer }) => void seen.push(`early ${answer.kind} ${answer.id ?? '-'}`),
        onLongEnd: ({ answer, bytes }) => void seen.push(`late ${answer.kind} ${answer.id ?? '-'} ${bytes}`),
      });
      const bytes = Buffer.from(`${text}\nok\n`);
      for (let at = 0; at < bytes.length; at += step) framer.push(bytes.subarray(at, at + step));
      framer.end();
      const whole = step > text.length;
      assert.deepEqual(seen, [`early ${whole ? late : early}`, `late ${late} ${text.length}`, 'ok'], `${text.slice(0, 60)} by ${step}`);
    }
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
