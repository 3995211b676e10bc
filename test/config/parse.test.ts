import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from '../../src/config/parse.js';
import { configErrorOf } from '../support/config-files.js';

const told = (text: string) =>
  configErrorOf(() => parseConfig(text, 'c.yaml')).problems.map((problem) => `${problem.line}:${problem.column} ${problem.message}`);
const EMPTY = '1:1 the file is empty; a config needs at least routes and runtimes';

describe('parseConfig', () => {
  it('reads YAML and JSON alike', () => {
    assert.deepEqual(parseConfig('a: { b: [1, true, "x"] }\n', 'c').value, { a: { b: [1, true, 'x'] } });
    assert.deepEqual(parseConfig('{"a":{"b":[1,true,"x"]}}', 'c').value, { a: { b: [1, true, 'x'] } });
    assert.deepEqual(parseConfig('a: yes\nb: 2001-01-01\nc: ~\nd: 0x10\n1: one\n', 'c').value, {
      a: 'yes',
      b: '2001-01-01',
      c: null,
      d: 16,
      1: 'one',
    });
  });

  it('says what an empty file lacks', () => {
    for (const text of ['', '\n\n', '# only a comment\n', '---\n', 'null\n']) assert.deepEqual(told(text), [EMPTY], JSON.stringify(text));
  });

  it('wants one mapping', () => {
    assert.deepEqual(told('- 1\n'), ['1:1 expected a mapping with routes, runtimes and gates, found a list']);
    assert.deepEqual(told('just text\n'), ['1:1 expected a mapping with routes, runtimes and gates, found a single value']);
    assert.deepEqual(told('a: 1\n---\nb: 2\n'), ['2:1 a second document begins here; a config is one document']);
  });

  it('points at faults of YAML and says what to do', () => {
    assert.deepEqual(told('a: 1\nb: 2\na: 3\n'), ['3:1 this key is already there; keep one of the two']);
    assert.deepEqual(told('a:\n\tb: 1\n'), ['2:1 a tab indents this line; YAML is indented with spaces']);
    assert.deepEqual(told('? [a]\n: 1\n'), ['1:3 a key must be a plain word']);
    assert.deepEqual(told('a: !foo x\n'), ['1:4 YAML tags are not used here; remove the !tag']);
    assert.deepEqual(told('a: !!binary aGk=\n'), ['1:4 YAML tags are not used here; remove the !tag']);
    assert.deepEqual(told('a: *x\n'), ['1:1 an alias (*name) has no anchor (&name) before it']);
    assert.deepEqual(told('a: "x\n'), ['2:1 not valid YAML: Missing closing "quote']);
    assert.deepEqual(told('a: b: c\n'), [
      '1:4 not valid YAML: Nested mappings are not allowed in compact mappings; is this line, or the next, indented too far? A text with ": " in it needs quotes',
    ]);
    assert.deepEqual(told('l: { port: ${PORT:-8080} }\nr:\n  - { a: b }\n'), [
      '1:12 within { … } and [ … ] a reference needs quotes: "${NAME}"',
    ]);
    assert.deepEqual(told('l: [${A}]\n'), ['1:5 within { … } and [ … ] a reference needs quotes: "${NAME}"']);
  });

  it('shows the line and a caret', () => {
    const [problem] = configErrorOf(() => parseConfig('a: 1\n  b: 2\n', 'c.yaml')).problems;
    assert.equal(problem?.excerpt?.split('\n')[0]?.trimEnd().endsWith('a: 1') || problem?.excerpt?.includes('b: 2'), true);
    assert.match(problem?.excerpt ?? '', /\n +\^$/);
  });

  it('bounds aliases and nesting', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`).join('\n')}\n`;
    assert.deepEqual(told(bomb), ['1:1 aliases repeat a value more than 100 times; write it out']);
    assert.deepEqual(parseConfig('a: &x [1]\nb: *x\n', 'c').value, { a: [1], b: [1] });
    const deep = configErrorOf(() => parseConfig('['.repeat(100_000), 'c.yaml')).problems;
    assert.ok(deep.some((problem) => problem.message === 'this is nested too deeply'));
  });

  it('keeps the YAML 1.2 schema whatever a directive says', () => {
    assert.deepEqual(parseConfig('%YAML 1.1\n---\na: yes\nb: { <<: { c: 1 } }\n', 'c').value, { a: 'yes', b: { '<<': { c: 1 } } });
  });
});
