import { defineGate, type GateDecision, type RequestGate } from 'portcullis/gate';
import { groupsOf } from './groups.js';
import { type Allows, toPrincipals, toSpiffeIds } from './match.js';
import { Options } from './options.js';

const PASS: GateDecision = { kind: 'pass' };
const REFUSED: GateDecision = {
  kind: 'refuse',
  status: 403,
  code: 'PRINCIPAL_NOT_ALLOWED',
  message: 'You are known, but not among those who may call this route.',
};

/**
 * Passes callers that earlier gates identified. Entries of one list are alternatives, lists that have entries must all be
 * met; options without any entry refuse to start. An allowlist: its pass admits.
 */
export const gate = defineGate({
  name: 'principal-allow',
  contract: 1,
  options: Options,
  authorizes: true,
  requires: requirements,
  codes: {
    PRINCIPAL_NOT_ALLOWED: {
      status: 403,
      meaning: 'The caller, its client, its groups, its SPIFFE ID or a fact does not meet the gate’s lists.',
      remedy: 'Have the caller added to the lists, or call as somebody who is in them.',
    },
  },
  check: (options) => void toRules(options),
  open(options): RequestGate {
    const rules = toRules(options);
    return { decide: (_head, context) => (rules.every((allows) => allows(context)) ? PASS : REFUSED) };
  },
});

function requirements(options: Options): readonly string[] {
  const needs = new Set(options.facts);
  if (options.principals.length + options.clients.length > 0 || options.groups !== undefined) needs.add('identity');
  if (options.spiffe_ids.length > 0) needs.add('certificate');
  return [...needs];
}

function toRules(options: Options): readonly Allows[] {
  const rules: Allows[] = [];
  if (options.principals.length > 0) rules.push(toPrincipals(options.principals));
  if (options.clients.length > 0) {
    const clients = new Set(options.clients);
    rules.push(({ identity }) => identity?.client !== undefined && clients.has(identity.client));
  }
  if (options.spiffe_ids.length > 0) rules.push(toSpiffeIds(options.spiffe_ids));
  const { claim, any, all } = options.groups ?? { claim: '', any: [], all: [] };
  const some = new Set<unknown>(any);
  if (any.length > 0)
    rules.push(({ identity, facts }) => identity !== undefined && groupsOf(facts, claim).some((group) => some.has(group)));
  if (all.length > 0) {
    rules.push(({ identity, facts }) => {
      if (identity === undefined) return false;
      const groups = new Set(groupsOf(facts, claim));
      return all.every((group) => groups.has(group));
    });
  }
  for (const fact of options.facts) {
    rules.push(({ facts }) => Object.hasOwn(facts, fact) && facts[fact] !== undefined && facts[fact] !== null && facts[fact] !== false);
  }
  if (rules.length === 0) throw new Error('no list has an entry, so everybody would pass; fill at least one');
  return rules;
}
