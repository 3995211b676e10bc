import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gate } from '../../../gates/principal-allow/gate.js';
import type { GateContext } from '../../../src/gate.js';
import { makeIdentity } from '../../../src/testing.js';
import { configTable, type DecisionRow, decisionTable } from '../../support/gate-tables.js';

const empty = 'no list has an entry, so everybody would pass; fill at least one';
configTable(gate, [
  ['principals', { principals: ['https://id.example.com#alice', 'api-key#probe'] }, undefined],
  [
    'everything',
    { principals: ['a#b'], clients: ['c'], groups: { claim: 'roles', any: ['x'], all: ['y'] }, spiffe_ids: ['spiffe://a/b'], facts: ['f'] },
    undefined,
  ],
  ['nothing', {}, empty],
  ['only empty lists', { principals: [], clients: [], groups: { any: [], all: [] }, spiffe_ids: [], facts: [] }, empty],
  ['a principal without issuer', { principals: ['alice'] }, 'options.principals[0]: must match pattern "^[^#]+#.+$"'],
  ['a SPIFFE ID without scheme', { spiffe_ids: ['corp/api'] }, 'options.spiffe_ids[0]: must match pattern "^spiffe://.+$"'],
  ['a misspelt key', { principal: ['a#b'] }, 'options.principal: unknown key; did you mean principals?'],
  ['a misspelt key inside', { groups: { anny: ['a'] } }, 'options.groups.anny: unknown key; did you mean any?'],
]);

test('principal-allow asks for what its lists need', () => {
  const requires = gate.requires;
  assert.ok(typeof requires === 'function');
  const lists = { principals: [], clients: [], spiffe_ids: [], facts: [] };
  assert.deepEqual(requires({ ...lists, principals: ['a#b'] }), ['identity']);
  assert.deepEqual(requires({ ...lists, clients: ['a'] }), ['identity']);
  assert.deepEqual(requires({ ...lists, groups: { claim: 'groups', any: ['a'], all: [] } }), ['identity']);
  assert.deepEqual(requires({ ...lists, spiffe_ids: ['spiffe://a/b'], facts: ['x'] }), ['x', 'certificate']);
});

const alice = makeIdentity();
const refused = '403 PRINCIPAL_NOT_ALLOWED';
const principals = { principals: ['https://id.example.com#alice'] };
const who = (context: Partial<GateContext>, options: unknown, expected: string, name: string): DecisionRow => [
  name,
  options,
  {},
  context,
  expected,
];
const groups = { groups: { any: ['platform'] } };
const spiffe = { spiffe_ids: ['spiffe://corp.example/api', 'spiffe://corp.example/jobs/*'] };
const certificate = (spiffe_id: unknown): Partial<GateContext> => ({ facts: { certificate: { spiffe_id } } });

decisionTable(gate, [
  who({ identity: alice }, principals, 'pass', 'the principal'),
  who({ identity: makeIdentity({ principal: 'Alice' }) }, principals, refused, 'another case'),
  who({ identity: makeIdentity({ principal: 'alice2' }) }, principals, refused, 'a longer name'),
  who({ identity: makeIdentity({ issuer: 'https://id.example.com/' }) }, principals, refused, 'an issuer with a slash more'),
  who({ identity: makeIdentity({ issuer: 'https://evil.example' }) }, principals, refused, 'another issuer'),
  who({}, principals, refused, 'nobody'),
  who({ identity: makeIdentity({ issuer: 'a', principal: 'b#c' }) }, { principals: ['a#b#c'] }, 'pass', 'a principal with # in it'),
  who({ identity: makeIdentity({ issuer: 'a#b', principal: 'c' }) }, { principals: ['a#b#c'] }, refused, 'an issuer with # in it never'),
  who({ identity: makeIdentity({ client: 'cli' }) }, { clients: ['web', 'cli'] }, 'pass', 'a client'),
  who({ identity: alice }, { clients: ['cli'] }, refused, 'no client'),
  who({ identity: makeIdentity({ client: 'cli' }) }, { ...principals, clients: ['cli'] }, 'pass', 'principal and client'),
  who({ identity: makeIdentity({ client: 'web' }) }, { ...principals, clients: ['cli'] }, refused, 'principal without client'),
  who(
    { identity: alice },
    { ...principals, clients: [], groups: { any: [], all: [] }, spiffe_ids: [], facts: [] },
    'pass',
    'empty lists ask for nothing',
  ),
  who({ identity: alice, facts: { groups: ['staff', 'platform'] } }, groups, 'pass', 'a group'),
  who({ identity: alice, facts: { groups: ['platform-old'] } }, groups, refused, 'a group by prefix'),
  who({ identity: alice, facts: { groups: 'platform' } }, groups, refused, 'a fact that is not a list'),
  who({ identity: alice, facts: { groups: [['platform']] } }, groups, refused, 'a list in a list'),
  who({ facts: { groups: ['platform'] } }, groups, refused, 'a group without identity'),
  who({ identity: alice }, groups, refused, 'no groups'),
  who({ identity: alice, facts: { token: { groups: ['platform'] } } }, groups, 'pass', 'a group of the token'),
  who({ identity: alice, facts: { token: { groups: 'platform' } } }, groups, 'pass', 'one group as a string'),
  who({ identity: alice, facts: { groups: [], token: { groups: ['platform'] } } }, groups, refused, 'the fact before the claim'),
  who({ identity: alice, facts: { token: { r: { a: ['x'] } } } }, { groups: { claim: '/r/a', any: ['x'] } }, 'pass', 'a claim by pointer'),
  who(
    { identity: alice, facts: { token: { 'https://x/r': ['x'] } } },
    { groups: { claim: 'https://x/r', any: ['x'] } },
    'pass',
    'a claim by URL',
  ),
  who({ identity: alice, facts: { token: {} } }, { groups: { claim: '/constructor/name', any: ['Object'] } }, refused, 'nothing inherited'),
  who({ identity: alice, facts: { groups: ['a', 'b', 'c'] } }, { groups: { all: ['a', 'c'] } }, 'pass', 'all groups'),
  who({ identity: alice, facts: { groups: ['a', 'b'] } }, { groups: { all: ['a', 'c'] } }, refused, 'one of all missing'),
  who({ identity: alice, facts: { groups: ['a'] } }, { groups: { any: ['b'], all: ['a'] } }, refused, 'all without any'),
  who(certificate('spiffe://corp.example/api'), spiffe, 'pass', 'a SPIFFE ID'),
  who(certificate('spiffe://corp.example/jobs/nightly'), spiffe, 'pass', 'a SPIFFE ID below'),
  who(certificate('spiffe://corp.example/jobs/'), spiffe, refused, 'the bare prefix'),
  who(certificate('spiffe://corp.example/api/x'), spiffe, refused, 'below an exact one'),
  who(certificate('spiffe://corp.example.evil/api'), spiffe, refused, 'another trust domain'),
  who(certificate(['spiffe://corp.example/api']), spiffe, refused, 'a SPIFFE ID in a list'),
  who({ identity: alice }, spiffe, refused, 'no certificate'),
  who({ facts: { certificate: {} } }, { facts: ['certificate'] }, 'pass', 'a fact'),
  who({ facts: { certificate: false } }, { facts: ['certificate'] }, refused, 'a false fact'),
  who({}, { facts: ['toString'] }, refused, 'an inherited fact'),
]);
