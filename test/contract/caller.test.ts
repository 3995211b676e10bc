import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressKey, callerKey } from '../../src/contract/caller.js';
import { makeIdentity } from '../../src/testing.js';

describe('the key of a caller', () => {
  it('is the principal of an issuer, or the address of who is unknown', () => {
    assert.equal(callerKey(makeIdentity({ issuer: 'https://id.test', principal: 'alice' }), '10.0.0.1'), 'https://id.test#alice');
    assert.equal(callerKey(undefined, '10.0.0.1'), '10.0.0.1');
  });

  it('of IPv6 the leading bits count, of a mapped address the IPv4 one, a zone and the spelling do not', () => {
    const same: readonly (readonly [string, string, number])[] = [
      ['2001:db8::1', '2001:DB8:0:0:ffff::2', 64],
      ['2001:db8::1', '2001:db8:0:0:0:0:0:1', 128],
      ['fe80::1%eth0', 'fe80::1%eth1', 64],
      ['::ffff:10.0.0.1', '10.0.0.1', 64],
      ['::ffff:a00:1', '10.0.0.1', 64],
      ['2001:db8::1', '2001:db8:0:f::1', 60],
      ['::', '::1', 64],
    ];
    for (const [a, b, bits] of same) assert.equal(addressKey(a, bits), addressKey(b, bits), `${a} ${b}`);
    const other: readonly (readonly [string, string, number])[] = [
      ['2001:db8::1', '2001:db8:0:1::1', 64],
      ['2001:db8::1', '2001:db8::2', 128],
      ['2001:db8::1', '2001:db8:0:10::1', 60],
      ['::1', '10.0.0.1', 64],
      ['10.0.0.1', '10.0.0.2', 64],
      ['not:an:address', '::1', 64],
    ];
    for (const [a, b, bits] of other) assert.notEqual(addressKey(a, bits), addressKey(b, bits), `${a} ${b}`);
  });
});
