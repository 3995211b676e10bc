import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { resolveTemplate } from '../../src/config/template.js';
import { folderWith } from '../support/config-files.js';

const { folder, remove } = folderWith({
  plain: 'from-file',
  newline: 'from-file\n',
  crlf: 'from-file\r\n',
  two: 'from-file\n\n',
  blank: ' \t\n',
  empty: '',
  latin1: new Uint8Array([0xe9]),
  'sub/deep': 'deep',
  large: 'x'.repeat(65_537),
  reference: '${A}',
});
const env = { A: 'a', B: 'b b', EMPTY: '', BLANK: ' \t', REF: '${A}', TRICK: '$${A}' };
const value = (text: string) => {
  const resolved = resolveTemplate(text, { env, folder });
  return resolved.ok ? resolved.value : assert.fail(resolved.message);
};
const message = (text: string) => {
  const resolved = resolveTemplate(text, { env, folder });
  return resolved.ok ? assert.fail(`resolved to ${resolved.value}`) : resolved.message;
};
const FORMS = 'write ${NAME}, ${NAME:-default}, ${NAME:?message} or ${file:/path}; a literal ${ is written $${';

describe('resolveTemplate', () => {
  after(remove);

  it('replaces variables anywhere in a text', () => {
    assert.equal(value('${A}'), 'a');
    assert.equal(value('x${A}y${B}z'), 'xayb bz');
    assert.equal(value('${A}${A}'), 'aa');
    assert.equal(value('no reference, $A, $ {A}, $$, }'), 'no reference, $A, $ {A}, $$, }');
  });

  it('takes the default for unset and for empty, as a shell does', () => {
    assert.equal(value('${NONE:-d}'), 'd');
    assert.equal(value('${EMPTY:-d}'), 'd');
    assert.equal(value('${A:-d}'), 'a');
    assert.equal(value('${NONE:-}'), '');
    assert.equal(value('${NONE:-http://x:1/?a=b}'), 'http://x:1/?a=b');
  });

  it('keeps $${ as a literal ${', () => {
    assert.equal(value('$${A}'), '${A}');
    assert.equal(value('${A}$${A}'), 'a${A}');
    assert.equal(value('$$${A}'), '$${A}');
  });

  it('never looks at what came in again', () => {
    assert.equal(value('${REF}'), '${A}');
    assert.equal(value('${TRICK}'), '$${A}');
    assert.equal(value('${file:reference}'), '${A}');
    assert.equal(value('${NONE:-$}{A}'), '${A}');
  });

  it('refuses unset, empty and blank, naming the variable', () => {
    assert.equal(message('${NONE}'), 'environment variable NONE is not set; set it, or write ${NONE:-default}');
    assert.equal(message('${EMPTY}'), 'environment variable EMPTY is empty; set it, or write ${EMPTY:-default}');
    assert.equal(message('${BLANK}'), 'environment variable BLANK holds only white space');
    assert.equal(message('${BLANK:-d}'), 'environment variable BLANK holds only white space');
    assert.equal(message('${NONE:?ask the platform team}'), 'environment variable NONE is not set: ask the platform team');
    assert.equal(message('${EMPTY:?ask}'), 'environment variable EMPTY is empty: ask');
    assert.equal(message('${NONE:?}'), 'environment variable NONE is not set; set it, or write ${NONE:-default}');
  });

  it('does not take names from the prototype', () => {
    assert.equal(message('${constructor}'), 'environment variable constructor is not set; set it, or write ${constructor:-default}');
    assert.equal(message('${__proto__}'), 'environment variable __proto__ is not set; set it, or write ${__proto__:-default}');
  });

  it('refuses forms that it does not know', () => {
    assert.equal(message('a ${A'), `a \${ is not closed; ${FORMS}`);
    for (const text of ['${}', '${1A}', '${A-B}', '${A:+b}', '${A:}', '${a b}', '${:-x}', '${A=b}']) {
      assert.equal(message(text), `this reference is not understood; ${FORMS}`, text);
    }
  });

  it('reads files from the folder of the config, less one newline', () => {
    assert.equal(value('${file:plain}'), 'from-file');
    assert.equal(value('${file:newline}'), 'from-file');
    assert.equal(value('${file:crlf}'), 'from-file');
    assert.equal(value('${file:two}'), 'from-file\n');
    assert.equal(value('${file:./sub/deep}'), 'deep');
    assert.equal(value(`x\${file:${folder}/plain}y`), 'xfrom-filey');
  });

  it('refuses files that hold no secret, naming the file and never what is in it', () => {
    assert.equal(message('${file:absent}'), `file ${folder}/absent does not exist`);
    assert.equal(message('${file:plain/x}'), `file ${folder}/plain/x does not exist`);
    assert.equal(message('${file:sub}'), `file ${folder}/sub is not a regular file`);
    assert.equal(message('${file:/dev/null}'), 'file /dev/null is not a regular file');
    assert.equal(message('${file:blank}'), `file ${folder}/blank is empty or holds only white space`);
    assert.equal(message('${file:empty}'), `file ${folder}/empty is empty or holds only white space`);
    assert.equal(message('${file:latin1}'), `file ${folder}/latin1 is not UTF-8 text`);
    assert.equal(message('${file:large}'), `file ${folder}/large is larger than 65536 bytes`);
    assert.equal(message('${file:}'), 'the reference ${file:…} names no file');
  });

  it('gives back every text without references, and every value exactly once (property)', () => {
    const plain = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('${'));
    fc.assert(fc.property(plain, (text) => assert.equal(value(text), text)));
    const secret = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== '');
    const around = fc.string().filter((text) => !text.includes('$'));
    fc.assert(
      fc.property(around, secret, around, secret, (before, one, between, two) => {
        const resolved = resolveTemplate(`${before}\${ONE}${between}\${TWO}`, { env: { ONE: one, TWO: two }, folder: '/' });
        assert.deepEqual(resolved, { ok: true, value: before + one + between + two, referenced: true });
      }),
    );
  });

  it('undoes its own escape (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':') }), (text) => {
        if (/\$\$\{/.test(text)) return;
        assert.equal(value(text.replaceAll('${', () => '$${')), text);
      }),
    );
  });

  it('never tells a value in a message (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':', '-', '?', 'f') }), (text) => {
        const resolved = resolveTemplate(text, { env: { A: 'zq7', AA: 'zq7', f: 'zq7' }, folder: '/nonexistent' });
        if (!resolved.ok) assert.ok(!resolved.message.includes('zq7'), resolved.message);
      }),
    );
  });
});
