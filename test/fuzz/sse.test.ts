import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeSse, SseParser } from '../../src/wire/sse.js';

type Seen = readonly [data: string | undefined, event: string | undefined, id: string | undefined, retry: number | undefined];

function parse(chunks: readonly Uint8Array[]): Seen[] {
  const seen: Seen[] = [];
  const parser = new SseParser({
    max_event_bytes: 10_000,
    onEvent: (e) => seen.push([e.has_data ? Buffer.from(e.data).toString() : undefined, e.event, e.id, e.retry]),
    onTooLarge: () => assert.fail('nothing here is large'),
  });
  for (const chunk of chunks) parser.push(chunk);
  return seen;
}

/** The standard's algorithm, written down on the whole text. */
function reference(text: string): Seen[] {
  const seen: Seen[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  lines.pop();
  let [data, event, id, retry]: [string[], string | undefined, string | undefined, number | undefined] = [
    [],
    undefined,
    undefined,
    undefined,
  ];
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0 || id !== undefined || retry !== undefined)
        seen.push([data.length > 0 ? data.join('\n') : undefined, event, id, retry]);
      [data, event, id, retry] = [[], undefined, undefined, undefined];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value === '' ? undefined : value;
    else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value)) retry = Number(value);
  }
  return seen;
}

const piece = fc.constantFrom(
  '\n',
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  'data',
  'data:',
  'data: ',
  ': ',
  'id',
  'id:',
  'event: ',
  'retry:',
  ' ',
  'x',
  '12',
  'é',
  '🜚',
  '\0',
  '\ufeff',
  '\u2028',
  'dat',
);
const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 6 });

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

test('any text in any chunks gives the events of the standard', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), cuts, (pieces, sizes) => {
      const text = pieces.join('');
      const bytes = Buffer.from(text);
      assert.deepEqual(parse([bytes]), reference(text));
      assert.deepEqual(parse(cut(bytes, sizes)), reference(text));
    }),
    { numRuns: 6000 },
  );
});

test('any text that is written as an event is one event of one data line', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.string({ unit: fc.constantFrom('\n', '\r', '\0', 'data:', 'x', ' ') }),
      cuts,
      (data, id, sizes) => {
        const bytes = Buffer.from(encodeSse(data, { id, event: id }));
        const clean = id.replace(/[\r\n\0]/g, '');
        const text = Buffer.from(data)
          .toString()
          .replace(/[\r\n]/g, ' ');
        assert.deepEqual(parse(cut(bytes, sizes)), [[text, clean === '' ? undefined : clean, clean, undefined]]);
      },
    ),
    { numRuns: 3000 },
  );
});
