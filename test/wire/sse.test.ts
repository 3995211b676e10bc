import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeSse, SSE_COMMENT, type SseEvent, SseParser } from '../../src/wire/sse.js';

interface Seen {
  readonly data: string | undefined;
  readonly event?: string;
  readonly id?: string;
  readonly retry?: number;
}

function parse(chunks: readonly (string | Uint8Array)[], max_event_bytes = 1000): (Seen | 'too large')[] {
  const seen: (Seen | 'too large')[] = [];
  const parser = new SseParser({
    max_event_bytes,
    onEvent: ({ data, has_data, event, id, retry }) =>
      seen.push({
        data: has_data ? Buffer.from(data).toString() : undefined,
        ...(event === undefined ? {} : { event }),
        ...(id === undefined ? {} : { id }),
        ...(retry === undefined ? {} : { retry }),
      }),
    onTooLarge: () => seen.push('too large'),
  });
  for (const chunk of chunks) parser.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return seen;
}
const bytewise = (text: string, max?: number): (Seen | 'too large')[] =>
  parse(
    Array.from(Buffer.from(text), (byte) => Buffer.of(byte)),
    max,
  );

test('the response is found behind a BOM, a comment, retry, an empty event and a notification, in three lines with CRLF', () => {
  const text =
    '\ufeff: hi\r\nretry: 1000\r\n\r\nid: x\r\ndata:\r\n\r\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\r\n\r\nevent: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":1,\r\ndata:"result":{}}\r\n\r\n';
  const events = [
    { data: undefined, retry: 1000 },
    { data: '', id: 'x' },
    { data: '{"jsonrpc":"2.0","method":"notifications/message"}' },
    { data: '{"jsonrpc":"2.0",\n"id":1,\n"result":{}}', event: 'message' },
  ];
  assert.deepEqual(parse([text]), events);
  assert.deepEqual(bytewise(text), events);
  for (let cut = 1; cut < text.length; cut++)
    assert.deepEqual(parse([Buffer.from(text).subarray(0, cut), Buffer.from(text).subarray(cut)]), events);
});

test('the examples of the HTML standard', () => {
  assert.deepEqual(parse(['data: YHOO\ndata: +2\ndata: 10\n\n']), [{ data: 'YHOO\n+2\n10' }]);
  assert.deepEqual(parse([': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n']), [
    { data: 'first event', id: '1' },
    { data: 'second event', id: '' },
    { data: ' third event' },
  ]);
  assert.deepEqual(parse(['data\n\ndata\ndata\n\ndata:']), [{ data: '' }, { data: '\n' }]);
});

test('CR, LF and CRLF end lines, also when CRLF is cut in two', () => {
  assert.deepEqual(parse(['data: a\rdata: b\r\r', '\ndata: c\r', '\n\r', '\n']), [{ data: 'a\nb' }, { data: 'c' }]);
  assert.deepEqual(parse(['data: a\r\n', '\r\ndata: b\n\r']), [{ data: 'a' }, { data: 'b' }]);
});

test('unknown fields, an id with NUL, a retry that is no number and a lone event name mean nothing', () => {
  assert.deepEqual(parse(['id: a\0b\ndatax: 1\nDATA: 2\nretry: 1e3\nretry: -1\n data: 3\n\n', 'event: x\n\n', 'data: y\n\n']), [
    { data: 'y' },
  ]);
  assert.deepEqual(parse(['data: a\nid: 1\nid: 2\nevent: p\nevent:\n\n']), [{ data: 'a', id: '2' }]);
});

test('an event of exactly the limit passes; a larger one is reported once and skipped to its blank line', () => {
  const x = 'x'.repeat(20);
  for (const run of [parse, (text: string[], max?: number) => bytewise(text.join(''), max)]) {
    assert.deepEqual(run([`data: ${x}\n\n`], 20), [{ data: x }]);
    assert.deepEqual(run([`data: ${x}!\n\ndata: b\n\n`], 20), ['too large', { data: 'b' }]);
    assert.deepEqual(run([`data: ${x}${x}${x}\ndata: ${x}${x}${x}\nid: 1\n\ndata: b\n\n`], 20), ['too large', { data: 'b' }]);
    assert.deepEqual(run(['data: 1234567890\ndata: 123456789\n\n', 'data: 1234567890\ndata: 1234567890\n\n'], 20), [
      { data: '1234567890\n123456789' },
      'too large',
    ]);
    assert.deepEqual(run([`:${x}${x}${x}${x}\ndata: b\n\n`], 20), [{ data: 'b' }]);
    assert.deepEqual(run([`id: ${x}${x}${x}\ndata: a\n\ndata: b\n\n`], 20), ['too large', { data: 'b' }]);
  }
  for (const line of ['data\n', 'data:\n', 'data: 1\n', 'data: {}\r\n']) {
    assert.equal(parse([`${line.repeat(4096)}\n`], 1e9).length, 1);
    for (const count of [4097, 64_000]) assert.deepEqual(parse([`${line.repeat(count)}\ndata: b\n\n`], 1e9), ['too large', { data: 'b' }]);
  }
});

test('data of one line in one chunk is not copied', () => {
  const chunk = Buffer.from('data: abc\n\n');
  let event: SseEvent | undefined;
  new SseParser({ max_event_bytes: 10, onEvent: (e) => (event = e), onTooLarge: () => assert.fail() }).push(chunk);
  assert.equal(event?.data.buffer, chunk.buffer);
  assert.equal(event?.data.byteOffset, chunk.byteOffset + 6);
});

test('an event is written as one data line, whatever its text holds', () => {
  const write = (data: string, rest: { event?: string; id?: string; retry?: number } = {}): string =>
    Buffer.from(encodeSse(Buffer.from(data), rest)).toString();
  assert.equal(write('{"a":1}'), 'data: {"a":1}\n\n');
  assert.equal(write('{\n"a":\r\n1\r}'), 'data: { "a":  1 }\n\n');
  assert.equal(write('{}', { event: 'a\nb\0', id: 'x\r\ndata: evil', retry: 5 }), 'event: ab\nid: xdata: evil\nretry: 5\ndata: {}\n\n');
  assert.equal(write('', { retry: 1000 }), 'retry: 1000\n\n');
  assert.equal(write('', { id: 'x', retry: 1000 }), 'id: x\nretry: 1000\ndata:\n\n');
  assert.equal(write('', { id: '' }), 'id: \ndata:\n\n');
  assert.equal(write('').trimEnd(), 'data:');
});

test('what was written is read back; the keep-alive comment is no event', () => {
  const events: Seen[] = [
    { data: '{"a":" b"}', id: '1', event: 'message' },
    { data: undefined, retry: 7 },
    { data: '', id: 'x' },
    { data: ' s' },
  ];
  const bytes = events.map(({ data, ...rest }) => Buffer.from(encodeSse(data ?? '', rest)));
  assert.deepEqual(parse(bytes.flatMap((event) => [SSE_COMMENT, event, SSE_COMMENT])), events);
});

test('a message without fields of its own is an event of the type message, as text or as bytes', () => {
  assert.equal(Buffer.from(encodeSse('{}')).toString(), 'event: message\ndata: {}\n\n');
  for (const json of ['{"a":"é😀"}', '{\r\n"a":1}'])
    assert.deepEqual(encodeSse(json), encodeSse(Buffer.from(json), { event: 'message' }), json);
});
