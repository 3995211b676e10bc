import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { toHead } from '../../src/explain/question.js';
import { fieldText } from '../../src/gate.js';

describe('the head that explain asks about', () => {
  it('has field values as a client that writes UTF-8 sends them', () => {
    const input = {
      runtimes: { up: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } },
      routes: [{ path: '/mcp', public: true, runtime: 'up' }],
    };
    const { config } = resolveConfig(input, { folder: '.' });
    for (const name of ['alice', 'jürgen', '李小', 'x😀']) {
      const value = toHead({ path: '/mcp', headers: [['X-User', name]] }, config, 0).headers.get('x-user');
      assert.equal(value, Buffer.from(name).toString('latin1'));
      assert.equal(fieldText(value ?? ''), name);
    }
  });
});
