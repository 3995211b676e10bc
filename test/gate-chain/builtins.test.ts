import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtins } from '../../gates/index.js';

test('every built-in gate lists its codes, describes its options and bears its name', () => {
  assert.ok(Object.keys(builtins).length >= 7);
  for (const [name, module] of Object.entries(builtins)) {
    assert.equal(module.name, name);
    assert.equal(module.contract, 1);
    for (const [code, row] of Object.entries(module.codes ?? {})) {
      assert.match(code, /^[A-Z][A-Z0-9_]{1,63}$/);
      assert.ok(row.status >= 400 && row.meaning.length > 10 && row.remedy.length > 10, code);
    }
    assert.notDeepEqual(module.codes ?? {}, {}, name);
  }
});
