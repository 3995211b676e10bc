import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verdictOf } from '../../../src/runtime/era/verdict.js';
import { judgeAnswer } from '../../../src/wire/summary.js';

const verdict = (text: string) => {
  const line = Buffer.from(text);
  return verdictOf(line, judgeAnswer(line));
};
const result = (members: object) => verdict(JSON.stringify({ jsonrpc: '2.0', id: 1, result: members }));
const error = (code: number, data?: unknown) => verdict(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message: 'm', data } }));

describe('verdictOf', () => {
  it('takes a result for modern only when its list contains 2026-07-28 itself', () => {
    const rows: readonly (readonly [unknown, string])[] = [
      [['2026-07-28'], 'modern'],
      [['2025-11-25', '2026-07-28'], 'modern'],
      [['2026-07-28', '2099-01-01'], 'modern'],
      [['2025-11-25'], 'legacy'],
      [['2099-01-01'], 'legacy'],
      [['2026-07-28-draft', 'x2026-07-28'], 'legacy'],
      [[['2026-07-28']], 'legacy'],
      [{ 0: '2026-07-28' }, 'legacy'],
      ['2026-07-28', 'legacy'],
      [[], 'legacy'],
      [null, 'legacy'],
      [undefined, 'legacy'],
    ];
    for (const [supportedVersions, wanted] of rows) assert.equal(result({ supportedVersions }), wanted, JSON.stringify(supportedVersions));
    assert.equal(result({ supportedVersions: ['2025-11-25'], nested: { supportedVersions: ['2026-07-28'] } }), 'legacy');
    assert.equal(verdict('{"jsonrpc":"2.0","id":1,"result":{ "supportedVersions" : [ "2026\\u002d07-28" ] }}'), 'modern', 'an escape');
    assert.equal(verdict('{"jsonrpc":"2.0","id":1,"result":"2026-07-28"}'), 'legacy');
  });

  it('takes -32022 for modern only when data.supported contains 2026-07-28', () => {
    assert.equal(error(-32022, { supported: ['2026-07-28'] }), 'modern');
    for (const data of [{ supported: ['2025-11-25'] }, { supported: '2026-07-28' }, { supported: [] }, {}, ['2026-07-28'], null, undefined])
      assert.equal(error(-32022, data), 'legacy', JSON.stringify(data));
  });

  it('takes the other codes of the modern revision for modern, and any other error for legacy', () => {
    for (const code of [-32020, -32021]) assert.equal(error(code), 'modern', String(code));
    for (const code of [-32600, -32601, -32602, -32603, -32700, -32000, -32001, -32019, -32023, 0, 1])
      assert.equal(error(code, { supported: ['2026-07-28'] }), 'legacy', String(code));
  });
});
