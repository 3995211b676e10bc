import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type TSchema, Type } from '../../src/gate.js';
import { checkOptions } from '../../src/modules/options.js';

const schema = Type.Object({
  name: Type.String({ minLength: 2 }),
  mode: Type.Enum(['on', 'off'], { default: 'off' }),
  list: Type.Array(Type.Object({ key: Type.String(), more: Type.Optional(Type.String()) }), { default: [] }),
  either: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  nested: Type.Object({ limit: Type.Integer({ default: 5 }) }, { default: {} }),
});

describe('options', () => {
  test('get their defaults and are frozen all the way down; what was given stays as it was', () => {
    const given = { name: 'ab', list: [{ key: 'k' }] };
    const { options, problems } = checkOptions(schema, given, 'o');
    assert.deepEqual(problems, []);
    assert.deepEqual(options, { name: 'ab', mode: 'off', list: [{ key: 'k' }], nested: { limit: 5 } });
    const { list, nested } = options as { list: object[]; nested: object };
    assert.ok([options, list, list[0], nested].every(Object.isFrozen));
    assert.deepEqual(given, { name: 'ab', list: [{ key: 'k' }] });
    assert.ok(!Object.isFrozen(given.list));
  });

  const rows: readonly (readonly [given: unknown, expected: readonly string[]])[] = [
    [{}, ['o.name: is required']],
    [undefined, ['o.name: is required']],
    [[], ['o: must be object']],
    ['text', ['o: must be object']],
    [{ nam: 'ab' }, ['o.name: is required', 'o.nam: unknown key; did you mean name?']],
    [{ name: 'a' }, ['o.name: must NOT have fewer than 2 characters']],
    [{ name: 'ab', lis: [] }, ['o.lis: unknown key; did you mean list?']],
    [{ name: 'ab', mode: 'offf' }, ['o.mode: must be one of on, off; did you mean off?']],
    [{ name: 'ab', nested: { lim: 1 } }, ['o.nested.lim: unknown key; did you mean limit?']],
    [{ name: 'ab', mode: 'of' }, ['o.mode: must be one of on, off']],
    [{ name: 'ab', list: [{ key: 'a' }, { kee: 'b' }] }, ['o.list[1].key: is required', 'o.list[1].kee: unknown key; did you mean key?']],
    [{ name: 'ab', nested: { limits: 1 } }, ['o.nested.limits: unknown key; did you mean limit?']],
    [{ name: 'ab', nested: { 'zzz zz': 1 } }, ['o.nested["zzz zz"]: unknown key; the keys here are limit']],
    [{ name: 'ab', either: 7 }, ['o.either: must be string, or must be array']],
    [{ name: 1, mode: 2 }, ['o.name: must be string', 'o.mode: must be one of on, off']],
  ];
  for (const [given, expected] of rows) {
    test(JSON.stringify(given) ?? 'nothing', () => {
      const { problems } = checkOptions(schema, given, 'o');
      assert.deepEqual(
        problems.map(({ where, message }) => `${where}: ${message}`),
        expected,
      );
    });
  }

  test('of an open schema may have other keys', () => {
    const open = Type.Object({ a: Type.String() }, { additionalProperties: Type.Number() });
    assert.deepEqual(checkOptions(open, { a: 'x', b: 1 }, 'o').problems, []);
    assert.deepEqual(
      checkOptions(open, { a: 'x', b: 'y' }, 'o').problems.map((problem) => problem.where),
      ['o.b'],
    );
  });

  test('of two schemas with one $id do not meet', () => {
    const one = Type.Object({ a: Type.String() }, { $id: 'gate' });
    const two = Type.Object({ b: Type.String() }, { $id: 'gate' });
    assert.deepEqual(checkOptions(one, { a: 'x' }, 'o').problems, []);
    assert.deepEqual(checkOptions(two, { b: 'x' }, 'o').problems, []);
  });

  test('of a schema that is none are a problem, not a throw', () => {
    const [problem] = checkOptions({ type: 'objekt' } as TSchema, {}, 'o').problems;
    assert.match(problem?.message ?? '', /^the options schema is unusable: /);
  });

  test('are never quoted: they may be secrets', () => {
    const secret = Type.Object({ key: Type.String({ pattern: '^k-', maxLength: 3 }), mode: Type.Literal('a') });
    assert.ok(!JSON.stringify(checkOptions(secret, { key: 's3cret', mode: 's3cret' }, 'o').problems).includes('s3cret'));
  });
});
