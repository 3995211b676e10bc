import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseNetwork } from '../../../gates/ip-allow/network.js';
import { whyNotCidr } from '../../../src/config/format/network.js';

/** Texts that are networks, and for those with host bits the network that was meant. */
const NETWORKS: readonly (readonly [text: string, meant?: string])[] = [
  ['10.0.0.0/8'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['0.0.0.0/0'],
  ['1.0.0.0/0', '0.0.0.0/0'],
  ['10.0.0.1/32'],
  ['10.0.0.1/31', '10.0.0.0/31'],
  ['192.168.1.1/24', '192.168.1.0/24'],
  ['10.1.128.0/17'],
  ['10.1.128.0/16', '10.1.0.0/16'],
  ['255.255.255.255/1', '128.0.0.0/1'],
  ['127.0.0.1'],
  ['2001:db8::/32'],
  ['2001:db8::1/32', '2001:db8::/32'],
  ['::/0'],
  ['::1/0', '::/0'],
  ['::1/128'],
  ['::1/127', '::/127'],
  ['1:2:3:4:5:6:7:8/128'],
  ['1:2:3:4:5:6:7:8/127'],
  ['1:2:3:4:5:6:7:9/127', '1:2:3:4:5:6:7:8/127'],
  ['FE80::1/10', 'fe80::/10'],
  ['febf::/10', 'fe80::/10'],
  ['2001:db8:0:0:1::/80'],
  ['2001:db8:0:0:1:8000::/80', '2001:db8:0:0:1::/80'],
  ['64:ff9b::192.0.2.1/96', '64:ff9b::/96'],
  ['::ffff:10.0.0.0/104'],
];

describe('networks in a config', () => {
  it('ip-allow and listener.trusted_proxies refuse host bits alike, and name the network that was meant', () => {
    for (const [text, meant] of NETWORKS) {
      const why = whyNotCidr(text);
      let thrown: string | undefined;
      try {
        parseNetwork(text);
      } catch (error) {
        thrown = (error as Error).message;
      }
      const advice = meant === undefined ? undefined : `has bits beside its prefix; write ${meant}, or `;
      assert.equal(why?.startsWith(advice ?? '\0'), meant === undefined ? undefined : true, `${text}: ${why}`);
      assert.equal(thrown?.startsWith(`"${text}" ${advice}`), meant === undefined ? undefined : true, `${text}: ${thrown}`);
    }
  });
});
