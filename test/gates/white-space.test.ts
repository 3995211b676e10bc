import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { gate as api_key } from '../../gates/api-key/gate.js';
import { toDecision } from '../../gates/forward-auth/answer.js';
import { isToken, readCredential } from '../../gates/oauth-bearer/credential.js';
import { makeContext, makeHead, openGate } from '../../src/testing.js';
import { withOddSpaces } from '../support/odd-spaces.js';
import { ALICE, type Case, tables } from './mtls/header-cases.js';
import { open, said } from './mtls/kit.js';

const IDENTITY = {
  principal_header: 'x-user',
  scopes_header: 'x-scopes',
  groups_header: 'x-groups',
  client_header: 'x-client',
  issuer: 'sso',
};
const answered = (fields: Readonly<Record<string, string>>) => {
  const [, decision] = toDecision({ status: 200, headers: { 'x-user': 'alice', ...fields } }, IDENTITY, false);
  return decision.kind === 'identify' ? { ...decision.identity, groups: decision.facts?.groups as readonly string[] } : undefined;
};
const digest = createHash('sha256').update('key').digest('hex');

/** For each field that a gate reads a value that counts, and whether a text is taken for it. */
const FIELDS: readonly (readonly [string, string, (sent: string) => boolean | Promise<boolean>])[] = [
  ['the principal of a forward-auth answer', 'alice', (sent) => answered({ 'x-user': sent })?.principal === 'alice'],
  ['the client of a forward-auth answer', 'app', (sent) => answered({ 'x-client': sent })?.client === 'app'],
  ['a scope of a forward-auth answer', 'read', (sent) => answered({ 'x-scopes': `write ${sent}` })?.scopes.has('read') === true],
  ['a group of a forward-auth answer', 'staff', (sent) => answered({ 'x-groups': `all, ${sent}` })?.groups.includes('staff') === true],
  ['a bearer token', 'abc', (sent) => bearer(`Bearer ${sent}`)],
  ['the scheme of a token', 'Bearer', (sent) => bearer(`${sent} abc`)],
  [
    'an API key',
    'key',
    async (sent) => {
      const opened = await openGate(api_key, { keys: [{ name: 'probe', sha256: digest }] });
      return (await opened.decide(makeHead({ headers: { 'x-api-key': sent } }), makeContext())).kind === 'identify';
    },
  ],
];

function bearer(sent: string): boolean {
  const credential = readCredential(makeHead({ headers: { authorization: sent } }), true);
  return credential.kind === 'token' && isToken(credential.token);
}

describe('gates take SP and HTAB alone for white space', () => {
  for (const [field, value, taken] of FIELDS)
    it(field, async () => {
      assert.equal(await taken(value), true, 'the value itself');
      for (const { what, sent } of withOddSpaces(value)) assert.equal(await taken(sent), false, what);
    });

  for (const [source, options, cases] of tables)
    it(`each field of the mtls source ${source}`, async () => {
      const gate = await open(options);
      const lines = (cases[0] as Case).lines();
      assert.equal(said(gate.ask(lines)), ALICE);
      for (let i = 1; i < lines.length; i += 2)
        for (const { what, sent } of withOddSpaces(lines[i] as string))
          assert.notEqual(said(gate.ask(lines.with(i, sent))), ALICE, `${lines[i - 1]}, ${what}`);
      await gate.close();
    });
});
