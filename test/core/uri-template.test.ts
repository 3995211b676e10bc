import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compileTemplate } from '../../src/core/uri-template.js';
import { isWellFormed } from '../../src/wire/text.js';
import { matchSlowly } from './slow-template.js';

const match = (template: string, uri: string) => {
  const values = compileTemplate(template).match(uri);
  return values === undefined ? undefined : { ...values };
};

describe('URI template', () => {
  it('matches level 1 and level 2', () => {
    for (const [template, uri, values] of [
      ['note://{id}', 'note://7', { id: '7' }],
      ['{scheme}://x', 'http://x', { scheme: 'http' }],
      ['/u/{id}/p/{page}', '/u/7/p/8', { id: '7', page: '8' }],
      ['/u/{id}/p/{page}', '/u/7/p/', undefined],
      ['/u/{id}/p/{page}', '/u//p/8', undefined],
      ['/u/{id}/p/{page}', '/u/7/8/p/9', undefined],
      ['/u/{id}', '/u/7?x', undefined],
      ['/u/{id}', 'x/u/7', undefined],
      ['/u/{id}.json', '/u/7.json', { id: '7' }],
      ['/u/{id}.json', '/u/7.jso', undefined],
      ['/u/{id}', '/u/a%2Fb%20%C3%A9', { id: 'a/b é' }],
      ['/u/{id}', '/u/%', undefined],
      ['/u/{id}', '/u/%ff', undefined],
      ['/u/{id}', '/u/%00', undefined],
      ['/u/{id}', '/u/é', undefined],
      ['file:///{+path}', 'file:///a/b%20c?d=e#f', { path: 'a/b%20c?d=e#f' }],
      ['file:///{+path}', 'file:///日本', { path: '日本' }],
      ['file:///{+path}', 'file:///a\nb', undefined],
      ['file:///{+path}', 'file:///\ud800', undefined],
      ['{+path}.{kind}', 'a.tar.gz', { path: 'a.tar', kind: 'gz' }],
      ['{host}/{+path}', 'h/a/b', { host: 'h', path: 'a/b' }],
      ['{host}/{+path}/{name}', 'h/a/b/c', { host: 'h', path: 'a/b', name: 'c' }],
      ['{host}/{+path}/{name}', 'h/a', undefined],
      ['/x{#part}', '/x#a/b', { part: 'a/b' }],
      ['/x{#part}', '/x', undefined],
      ['aa{x}aa', 'aaa', undefined],
      ['aa{x}aa', 'aa-aa', { x: '-' }],
      ['{a}1{b}', '%41x1y', { a: 'Ax', b: 'y' }],
      ['{+a}4{b}', 'x4%41', { a: 'x', b: 'A' }],
      ['{+a}4{b}', 'x%41', undefined],
      ['{+a}', 'x%4', undefined],
      ['{+a}', 'x%4g', undefined],
      ['{a}%00{b}', 'x%00y', { a: 'x', b: 'y' }],
      ['{a}-{b}', 'x-y-z', { a: 'x', b: 'y-z' }],
      ['/é/{x}', '/%C3%A9/1', { x: '1' }],
      ['/%25/{x}', '/%25/1', { x: '1' }],
      ['/{__proto__}', '/7', JSON.parse('{"__proto__":"7"}')],
    ] as readonly (readonly [string, string, Record<string, string> | undefined])[])
      assert.deepEqual(JSON.stringify(match(template, uri)), JSON.stringify(values), `${template} ${uri}`);
  });

  it('expands what RFC 6570 section 3.2 expands', () => {
    const values = {
      var: 'value',
      hello: 'Hello World!',
      path: '/foo/bar',
      half: '50%',
      base: 'http://example.com/home/',
      pct: 'a%20b',
      'x.y': 'é',
    };
    for (const [template, uri] of [
      ['{var}', 'value'],
      ['{hello}', 'Hello%20World%21'],
      ['{half}', '50%25'],
      ['O{path}', 'O%2Ffoo%2Fbar'],
      ['{+hello}', 'Hello%20World!'],
      ['{+half}', '50%25'],
      ['{+pct}', 'a%20b'],
      ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
      ['{+base}index', 'http://example.com/home/index'],
      ['{+path}/here', '/foo/bar/here'],
      ['here?ref={+path}', 'here?ref=/foo/bar'],
      ['X{#var}', 'X#value'],
      ['X{#hello}', 'X#Hello%20World!'],
      ['/é/{x.y}', '/%C3%A9/%C3%A9'],
    ] as const)
      assert.equal(compileTemplate(template).expand(values), uri, template);
    const { expand } = compileTemplate('/{a}/{toString}');
    assert.throws(() => expand({ a: '1' }), { name: 'TypeError', message: 'the variable toString needs a text that is not empty' });
    for (const a of ['', '\ud800', 7 as unknown as string])
      assert.throws(() => expand({ a, toString: '1' } as never), {
        name: 'TypeError',
        message: 'the variable a needs a text that is not empty',
      });
  });

  it('takes 1 024 bytes and 32 variables, and not one more', () => {
    const long = (bytes: number) => `/${'a'.repeat(bytes - 4)}{x}`;
    assert.equal(match(long(1024), `${long(1024).slice(0, -3)}7`)?.x, '7');
    assert.throws(() => compileTemplate(long(1025)), { name: 'TypeError', message: 'is longer than 1024 bytes' });
    assert.throws(() => compileTemplate(`{x}${'é'.repeat(511)}`), { message: 'is longer than 1024 bytes' });
    assert.deepEqual(compileTemplate(`{x}${'é'.repeat(510)}`).variables, ['x']);
    const many = (count: number) => Array.from({ length: count }, (_, n) => `/{v${n}}`).join('');
    const values = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`v${n}`, String(n)]));
    assert.deepEqual(match(many(32), compileTemplate(many(32)).expand(values)), values);
    assert.throws(() => compileTemplate(many(33)), { message: 'has more than 32 variables' });
  });

  it('says what it does not understand', () => {
    for (const [template, message] of [
      ['/fixed', 'has no variable; make it a resource'],
      ['/{a', 'has a "{" without a "}"'],
      ['/a}/{b}', 'has a "}" without a "{"'],
      ['/{a}}', 'has a "}" without a "{"'],
      ['/{a}/{a}', 'has the variable a twice'],
      ['/{a}{b}', 'has nothing between two variables before {b}'],
      ['/{+a}/{+b}', 'has more than one {+name} or {#name}'],
      ['/{a b}/x', 'has {a b}; only {name}, {+name} and {#name} are understood'],
      ['/ {a}', 'has " ", which no URI has; percent-encode it'],
      ['/%2/{a}', 'has a "%" without two hexadecimal digits'],
      ['/\ud800/{a}', 'has half a character'],
      ['{a}%A9{b}', 'has percent-encoded bytes that are not UTF-8'],
      [7, 'must be a text'],
    ] as readonly (readonly [string, string])[])
      assert.throws(() => compileTemplate(template), { name: 'TypeError', message });
    for (const expression of ['', 'a,b', '/a', '.a', ';a', '?a', '&a', 'a*', 'a:3', '{a', 'a.', '+', '|a', '%41'])
      assert.throws(() => compileTemplate(`/{${expression}}`), {
        message: `has {${expression}}; only {name}, {+name} and {#name} are understood`,
      });
  });

  it('equals a slow reference that tries every place', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '-',
      '/',
      '.',
      '%41',
      'a/',
      '-a',
      'aa',
      '/a/',
      '4',
      '1',
      '41',
      '%C3%A9',
      '%C3',
      '%A9',
      '%00',
      '%',
      '\n',
    );
    const text = (max: number) => fc.array(piece, { maxLength: max }).map((parts) => parts.join(''));
    const variables = fc.array(fc.constantFrom('', '', '+', '#'), { minLength: 1, maxLength: 4 });
    const example = fc.record({
      literals: fc.array(text(2), { minLength: 5, maxLength: 5 }),
      variables,
      uri: text(10),
      values: fc.array(text(2), { minLength: 4, maxLength: 4 }),
    });
    let matched = 0;
    fc.assert(
      fc.property(example, ({ literals, variables: signs, uri, values }) => {
        const template = signs.map((sign, n) => `${literals[n]}{${sign}v${n}}`).join('') + literals[4];
        let compiled: ReturnType<typeof compileTemplate>;
        try {
          compiled = compileTemplate(template);
        } catch {
          return;
        }
        const near = signs.map((sign, n) => `${literals[n]}${sign === '#' ? '#' : ''}${values[n]}`).join('') + literals[4];
        for (const candidate of [uri, near]) {
          const found = compiled.match(candidate);
          assert.deepEqual(found && { ...found }, matchSlowly(template, candidate), `${template} ${candidate}`);
          if (found !== undefined) matched += 1;
        }
      }),
      { numRuns: 2_000 },
    );
    assert.ok(matched > 60, `${matched} matches`);
  });

  it('matches what it expands, whatever the values', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => isWellFormed(text) && !text.includes('\0'));
    fc.assert(
      fc.property(value, value, (id, name) => {
        const { expand, match: find } = compileTemplate('x://{id}/of/{+name}');
        const found = find(expand({ id, name }));
        assert.equal(found?.id, id);
        assert.equal(found?.name, expand({ id: 'x', name }).slice('x://x/of/'.length));
      }),
    );
  });

  it('takes time linear in the URI: ten times the bytes take at most twelve times as long, at 1 MB', () => {
    for (const [template, make] of [
      ['/users/{id}/x', (n: number) => `/users/${'a,'.repeat(n / 2)}/`],
      ['/users/{id}/x/{+rest}/y/{z}', (n: number) => `/users/${'a/x/'.repeat(n / 4)}`],
      [`/${'a'.repeat(500)}{x}b${'a'.repeat(500)}{+y}`, (n: number) => `/${'a'.repeat(n)}`],
      [`{+y}${'a'.repeat(500)}b{x}`, (n: number) => `${'a'.repeat(n)}/b`],
      [Array.from({ length: 32 }, (_, n) => `{v${n}}-`).join(''), (n: number) => 'a-'.repeat(n / 2)],
      ['/{id}', (n: number) => `/${'%41'.repeat(n / 3)}`],
      ['/{+id}', (n: number) => `/${'é'.repeat(n)}`],
    ] as const) {
      const compiled = compileTemplate(template);
      const large = make(1_000_000);
      // Ten different ones: a processor's caches then favour neither side.
      const small = Array.from({ length: 10 }, () => make(100_000));
      let ratio = Number.POSITIVE_INFINITY;
      let best_ms = Number.POSITIVE_INFINITY;
      // Both sides of one round share what else the machine does; no round of a match that backtracks comes near.
      for (let round = 0; round < 60 && (round < 3 || (ratio > 12 && best_ms < 500)); round++) {
        const small_ms = timed(() => small.map((uri) => compiled.match(uri))) / 10;
        const large_ms = timed(() => compiled.match(large));
        ratio = Math.min(ratio, large_ms / small_ms);
        best_ms = Math.min(best_ms, large_ms);
      }
      assert.ok(ratio <= 12, `${template.slice(0, 40)}: ${ratio} times as long`);
      assert.ok(best_ms < 100, `${template.slice(0, 40)}: ${best_ms} ms`);
    }
  });
});

function timed(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}
