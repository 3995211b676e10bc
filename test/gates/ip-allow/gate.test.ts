import { gate } from '../../../gates/ip-allow/gate.js';
import { configTable, type DecisionRow, decisionTable } from '../../support/gate-tables.js';

const bad = (text: string): string => `"${text}" is not a network; write a CIDR such as 10.0.0.0/8 or 2001:db8::/32, or one address`;

configTable(gate, [
  [
    'networks and addresses of both families',
    { allow: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1', '0.0.0.0/0', '::/0'] },
    undefined,
  ],
  ['an IPv4-mapped network', { allow: ['::ffff:10.0.0.0/104'], deny: ['::ffff:10.0.0.1'] }, undefined],
  ['nothing allowed', { allow: [] }, 'options.allow: must NOT have fewer than 1 items'],
  ['no list', {}, 'options.allow: is required'],
  ['a misspelt key', { allow: ['::1'], denny: [] }, 'options.denny: unknown key; did you mean deny?'],
  ['a number', { allow: [10] }, 'options.allow[0]: must be string'],
  ['a name', { allow: ['localhost'] }, bad('localhost')],
  ['octal digits', { allow: ['010.0.0.0/8'] }, bad('010.0.0.0/8')],
  ['a short address', { allow: ['10.1'] }, bad('10.1')],
  ['a prefix over 32', { allow: ['10.0.0.0/33'] }, bad('10.0.0.0/33')],
  ['a prefix over 128', { allow: ['::/129'] }, bad('::/129')],
  ['a zone', { allow: ['fe80::1%eth0'] }, bad('fe80::1%eth0')],
  ['a space', { allow: [' 10.0.0.0/8'] }, bad(' 10.0.0.0/8')],
  ['host bits', { allow: ['10.1.2.3/8'] }, '"10.1.2.3/8" has bits beside its prefix; write 10.0.0.0/8, or 10.1.2.3 for the one address'],
  [
    'host bits in deny',
    { allow: ['::/0'], deny: ['2001:db8::1/32'] },
    '"2001:db8::1/32" has bits beside its prefix; write 2001:db8::/32, or 2001:db8::1 for the one address',
  ],
]);

const options = { allow: ['10.0.0.0/8', '2001:db8::/32', '::ffff:192.0.2.0/120', '203.0.113.7'], deny: ['10.0.0.13', '2001:db8:bad::/48'] };
const refused = '403 IP_NOT_ALLOWED';
const rows: readonly (readonly [address: string, expected: string])[] = [
  ['10.0.0.0', 'pass'],
  ['10.255.255.255', 'pass'],
  ['11.0.0.0', refused],
  ['9.255.255.255', refused],
  ['10.0.0.13', refused],
  ['::ffff:10.0.0.13', refused],
  ['::ffff:10.1.1.1', 'pass'],
  ['::ffff:a01:101', 'pass'],
  ['192.0.2.255', 'pass'],
  ['192.0.3.0', refused],
  ['203.0.113.7', 'pass'],
  ['203.0.113.8', refused],
  ['2001:db8::1', 'pass'],
  ['2001:DB8:0:0::1', 'pass'],
  ['2001:db9::1', refused],
  ['2001:db8:bad::1', refused],
  ['2001:db8:bae::1', 'pass'],
  ['2001:db8::1%eth0', 'pass'],
  ['::a00:1', refused],
  ['', refused],
  ['localhost', refused],
  ['0x0a000001', refused],
  ['012.0.0.1', refused],
  ['10.0.0.1, 10.0.0.2', refused],
];
decisionTable(
  gate,
  rows.map(([address, expected]): DecisionRow => [address || 'no address', options, { peer: { client_address: address } }, {}, expected]),
);
decisionTable(gate, [
  ['the client’s address counts, not the hop’s', options, { peer: { address: '10.0.0.1', client_address: '198.51.100.1' } }, {}, refused],
  ['a header counts for nothing', options, { peer: { address: '198.51.100.1' }, headers: { 'x-forwarded-for': '10.0.0.1' } }, {}, refused],
  ['::/0 is not IPv4', { allow: ['::/0'] }, { peer: { address: '10.0.0.1' } }, {}, refused],
  ['0.0.0.0/0 is not IPv6', { allow: ['0.0.0.0/0'] }, { peer: { address: '2001:db8::1' } }, {}, refused],
  ['0.0.0.0/0 is every IPv4', { allow: ['0.0.0.0/0'] }, { peer: { address: '255.255.255.255' } }, {}, 'pass'],
]);
