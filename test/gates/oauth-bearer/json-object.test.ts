import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJsonObject } from '../../../gates/oauth-bearer/json-object.js';
import { parseJws } from '../../../gates/oauth-bearer/jws.js';

const parse = (text: string) => parseJsonObject(Buffer.from(text));

describe('unambiguous JSON objects', () => {
  const good: readonly string[] = [
    '{}',
    ' {"a" : 1 , "b":[{"a":2},{"a":3}],"c":{"a":4}}\n',
    '{"a":"a","b":"a"}',
    '{"a":"\\"b\\":1","b":"{\\"b\\":2}"}',
    '{"a\\\\":1,"a":2}',
    `{"x":${'['.repeat(31)}${']'.repeat(31)}}`,
  ];
  for (const text of good)
    it(`reads ${text.slice(0, 40).trim()}`, () => {
      assert.deepEqual(parse(text), JSON.parse(text));
    });

  const bad: readonly string[] = [
    '',
    '[]',
    '"a"',
    'null',
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"\\u0061":3}',
    '{"a":{"b":[{"c":1,"c" :2}]}}',
    '{"a":1}x',
    '\ufeff{"a":1}',
    `{"x":${'['.repeat(32)}${']'.repeat(32)}}`,
  ];
  for (const text of bad)
    it(`refuses ${text.slice(0, 40)}`, () => {
      assert.equal(parse(text), undefined);
    });

  it('refuses bytes that are not UTF-8', () => {
    assert.equal(parseJsonObject(Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])), undefined);
  });

  it('reads every object that JSON.stringify writes, and says no more than JSON.parse', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(value);
        assert.equal(JSON.stringify(parse(text)), text);
      }),
    );
  });

  it('an object with one name repeated anywhere is refused', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }), fc.boolean(), (value, deep) => {
        const text = JSON.stringify(value);
        const twice = `{${JSON.stringify(Object.keys(value)[0])}:0,${text.slice(1)}`;
        assert.equal(parse(deep ? `{"list":[1,${twice}]}` : twice), undefined);
      }),
    );
  });

  it('taking a token apart never throws, and what it accepts has one spelling', () => {
    const segment = fc.base64String().map((text) => text.replace(/[+/=]/g, ''));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(segment, { maxLength: 5 }).map((parts) => parts.join('.')),
        ),
        (text) => {
          const jws = parseJws(text);
          if (jws !== undefined) assert.match(text, /^[\w-]+\.[\w-]+\.[\w-]+$/);
        },
      ),
    );
  });
});
