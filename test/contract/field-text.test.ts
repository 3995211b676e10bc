import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldText } from '../../src/gate.js';
import { FIELD_NAMES } from '../support/field-names.js';

describe('the text of a field', () => {
  for (const [what, bytes, name] of FIELD_NAMES) it(`${what}: ${name ?? 'none'}`, () => assert.equal(fieldText(bytes), name));

  it('is every text again that was sent in UTF-8', () => {
    for (let code = 0; code < 0x11_0000; code += code < 0x1000 ? 1 : 251) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const text = `a${String.fromCodePoint(code)}z`;
      assert.equal(fieldText(Buffer.from(text).toString('latin1')), text, code.toString(16));
    }
  });

  it('is none for characters that are no bytes', () => {
    for (const text of ['jürgenĀ', '李', '\ud800']) assert.equal(fieldText(text), undefined);
  });
});
