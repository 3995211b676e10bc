import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toPeer } from '../../src/runtime/peer/outgoing.js';
import { memberAt, membersOf, splice, toLine } from '../../src/wire/edit.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (array: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(array);
const rewritten = (body: string, out: Parameters<typeof toPeer>[1]): string => text(toPeer(bytes(body), out));

describe('splice', () => {
  it('replaces, inserts and removes, and leaves the original alone', () => {
    const original = bytes('0123456789');
    const edits = [
      { from: 0, to: 0, text: '<' },
      { from: 2, to: 4, text: 'é' },
      { from: 9, to: 10, text: '' },
    ];
    assert.equal(text(splice(original, edits)), '<01é45678');
    assert.equal(text(original), '0123456789');
  });

  it('makes one line: line breaks become spaces, line separators escapes, and nothing else changes', () => {
    assert.equal(
      text(toLine(bytes('{\r\n"a": "x\u2028y\u2029z\u0085",\n"b":"€ü😀\\n"}'))),
      '{  "a": "x\\u2028y\\u2029z\\u0085", "b":"€ü😀\\n"}',
    );
  });

  it('any JSON stays the same value and is one line for every reader (property)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\r\n'), (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        const line = text(toLine(bytes(json)));
        assert.deepEqual(JSON.parse(line), JSON.parse(json));
        assert.equal(line.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/).length, 1);
      }),
    );
    const odd = '{"a":"\u2028\u2029\u0085\u2027\u202a\u0084\u0086"}';
    assert.deepEqual(JSON.parse(text(toLine(bytes(odd)))), JSON.parse(odd));
  });
});

describe('locate', () => {
  it('finds members by their decoded key, at any depth, and stops where there is no object', () => {
    const json = bytes(' { "a" : 1 , "p\\u0061rams":{"_meta": {"t":"x"},"n":[{"a":2}]} } ');
    assert.deepEqual(
      membersOf(json, 1).map(({ key, value, to }) => [key, text(json.subarray(value, to))]),
      [
        ['a', '1'],
        ['params', '{"_meta": {"t":"x"},"n":[{"a":2}]}'],
      ],
    );
    const found = memberAt(json, 'params', '_meta', 't');
    assert.equal(found && text(json.subarray(found.value, found.to)), '"x"');
    assert.equal(memberAt(json, 'params', 'n', 'a'), undefined);
    assert.equal(memberAt(json, 'absent'), undefined);
    assert.deepEqual(membersOf(bytes('{}'), 0), []);
  });

  it('agrees with JSON.parse on any object (property)', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (object) => {
        const json = bytes(JSON.stringify(object, null, 1));
        const read = membersOf(json, 0).map(({ key, value, to }) => [key, JSON.parse(text(json.subarray(value, to)))]);
        assert.deepEqual(Object.fromEntries(read), JSON.parse(text(json)));
      }),
    );
  });
});

describe('toPeer', () => {
  it('puts our id and token in, and touches no number, key or space elsewhere', () => {
    const body =
      '{"x":1.10, "id":"c", "method":"m","params":{"_meta":{"progressToken":"p","k":1E2},"arguments":{"id":9223372036854775807}}}';
    assert.equal(
      rewritten(body, { id: 7 }),
      '{"x":1.10, "id":7, "method":"m","params":{"_meta":{"progressToken":7,"k":1E2},"arguments":{"id":9223372036854775807}}}',
    );
  });

  it('sends no token where the client sent none, or null', () => {
    assert.equal(rewritten('{"id":1,"params":{"_meta":{}}}', { id: 2 }), '{"id":2,"params":{"_meta":{}}}');
    assert.equal(rewritten('{"id":1,"params":{"_meta":{"progressToken":null,"a":1}}}', { id: 2 }), '{"id":2,"params":{"_meta":{"a":1}}}');
  });

  it('takes a client’s identity out in any spelling, and puts the gateway’s in wherever _meta was', () => {
    for (const key of ['portcullis/identity', 'portcullis\\/identity', '\\u0070ortcullis/identity', 'PortCullis/IDENTITY'])
      assert.equal(rewritten(`{"id":1,"params":{"_meta":{"${key}":{"sub":"root"}}}}`, { id: 1 }), '{"id":1,"params":{"_meta":{}}}', key);
    const identity = '{"sub":"a"}';
    const meta = `"_meta":{"portcullis/identity":${identity}}`;
    for (const [body, expected] of [
      ['{"id":1,"method":"m"}', `{"params":{${meta}},"id":1,"method":"m"}`],
      ['{"id":1,"params":null}', `{"id":1,"params":{${meta}}}`],
      ['{"id":1,"params":{}}', `{"id":1,"params":{${meta}}}`],
      ['{"id":1,"params":{"a":1}}', `{"id":1,"params":{${meta},"a":1}}`],
      ['{"id":1,"params":{"_meta":null}}', `{"id":1,"params":{${meta}}}`],
      [
        '{"id":1,"params":{"_meta":{"portcullis/identity":0,"b":2}}}',
        `{"id":1,"params":{"_meta":{"b":2,"portcullis/identity":${identity}}}}`,
      ],
    ] as const)
      assert.equal(rewritten(body, { id: 1, identity }), expected);
  });

  it('drops keys, and names a cancelled request as the peer does', () => {
    const drops = (key: string): boolean => key.startsWith('x/');
    assert.equal(rewritten('{"params":{"_meta":{"x/a":1,"b":2}}}', { drops }), '{"params":{"_meta":{"b":2}}}');
    const cancel = '{"method":"notifications/cancelled","params":{"requestId":"a","reason":"r"}}';
    assert.equal(rewritten(cancel, { request_id: '12' }), '{"method":"notifications/cancelled","params":{"requestId":12,"reason":"r"}}');
  });
});
