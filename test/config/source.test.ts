import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from '../../src/config/parse.js';
import type { Path } from '../../src/config/path.js';

const at = (text: string, path: Path, part: 'key' | 'value') => {
  const { source } = parseConfig(text, 'c.yaml');
  return source.at(source.offsetOf(path, part));
};
const place = (text: string, path: Path, part: 'key' | 'value') => {
  const { line, column } = at(text, path, part);
  return `${line}:${column}`;
};

describe('ConfigSource', () => {
  const text = 'a:\n  b: 1\n  c: [x, { d: 2 }]\ne: &e { f: 3 }\ng: *e\n';

  it('finds keys, values, list entries and what stands behind an alias', () => {
    assert.equal(place(text, [], 'value'), '1:1');
    assert.equal(place(text, ['a'], 'value'), '1:1');
    assert.equal(place(text, ['a', 'b'], 'key'), '2:3');
    assert.equal(place(text, ['a', 'b'], 'value'), '2:6');
    assert.equal(place(text, ['a', 'c'], 'value'), '3:3');
    assert.equal(place(text, ['a', 'c', 0], 'value'), '3:7');
    assert.equal(place(text, ['a', 'c', 1, 'd'], 'value'), '3:15');
    assert.equal(place(text, ['g', 'f'], 'value'), '4:12');
  });

  it('points at the nearest thing when the place is not written', () => {
    assert.equal(place(text, ['a', 'z', 'y'], 'value'), '1:1');
    assert.equal(place(text, ['a', 'c', 9], 'value'), '3:3');
    assert.equal(place(text, ['a', 'b', 'z'], 'value'), '2:3');
    assert.equal(place(text, ['nothing'], 'key'), '1:1');
  });

  it('works the same in one long JSON line, and cuts what it shows', () => {
    const json = `{"gates":{${Array.from({ length: 200 }, (_, i) => `"g${i}":{"use":"x"}`).join(',')}},"z":1}`;
    const { line, column, excerpt } = at(json, ['gates', 'g150', 'use'], 'value');
    assert.equal(line, 1);
    assert.equal(json.slice(column - 1, column + 2), '"x"');
    const [shown = '', caret = ''] = excerpt.split('\n');
    assert.equal(shown[caret.indexOf('^')], '"');
    assert.ok(shown.length <= 204, `${shown.length}`);
  });

  it('stars out secrets that stand in the line', () => {
    const yaml =
      'o: { client_secret: hunter2, key_file: k.pem, shared_secret: { header: h, value: "hunter3" }, password: 12345, n: 1 }\nr: "http://u:pw@h"\n';
    assert.equal(
      at(yaml, ['o', 'n'], 'value').excerpt.split('\n')[0],
      '  …ret: *******, key_file: k.pem, shared_secret: { header: h, value: ********* }, password: *****, n: 1 }',
    );
    assert.equal(at(yaml, ['r'], 'value').excerpt, '  r: ***************\n     ^');
  });

  it('stars out the query of a URL, which may hold a key, however the text is written', () => {
    for (const [written, shown] of [
      ['https://h/mcp?key=hunter2#f', 'https://h/mcp?*************'],
      ['"https://h/mcp?key=hunter2"', '"https://h/mcp?************'],
      ["'https://h/?a=1?b=2'", "'https://h/?********"],
      ['"https://h/mcp\\u003fkey=x"', '*'.repeat(26)],
      ['is it? a://b', 'is it? a://b'],
    ] as const) {
      assert.equal(at(`u: ${written}\n`, ['u'], 'value').excerpt.split('\n')[0], `  u: ${shown}`);
    }
  });

  it('shows references, which say no value, but not their defaults', () => {
    assert.equal(at('token: ${T}\n', ['token'], 'value').excerpt, '  token: ${T}\n         ^');
    assert.equal(at('token: ${T:-abc}\n', ['token'], 'value').excerpt, '  token: *********\n         ^');
  });

  it('keeps control and direction characters from the terminal', () => {
    assert.equal(at('a: "\u001b[2J\u202ex"\n', ['a'], 'value').excerpt, '  a: "?[2J?x"\n     ^');
  });
});
