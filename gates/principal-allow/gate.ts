import { defineGate, type Facts, type GateContext, type GateDecision, type RequestGate } from 'portcullis/gate';
import { Options } from './options.js';

const NONE: readonly unknown[] = [];

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

/**
 * The caller's groups: the fact called `claim` if it is a list, else that claim of the fact `token`, by its exact name or, when
 * the name starts with `/`, by JSON pointer (RFC 6901). A list, or one string: one group. What is not a string in a list equals no group's name.
 */
function groupsOf(facts: Facts, claim: string): readonly unknown[] {
  const own = Object.hasOwn(facts, claim) ? facts[claim] : undefined;
  if (Array.isArray(own)) return own;
  const token = Object.hasOwn(facts, 'token') ? facts.token : undefined;
  if (typeof token !== 'object' || token === null) return NONE;
  return toList(Object.hasOwn(token, claim) ? (token as Facts)[claim] : claim.startsWith('/') ? point(token, claim) : undefined);
}

function point(from: unknown, pointer: string): unknown {
  let value = from;
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Facts)[key];
  }
  return value;
}

function toList(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value : NONE;
}

/** One list's verdict on a caller. */
type Allows = (context: GateContext) => boolean;

/**
 * Callers written `issuer#principal`. The issuer ends at the first `#` (an OAuth issuer has no fragment, RFC 8414 section 2),
 * so no two callers are written alike; an identity whose issuer holds a `#` is never met.
 */
function toPrincipals(entries: readonly string[]): Allows {
  const principals = new Map<string, Set<string>>();
  for (const entry of entries) {
    const cut = entry.indexOf('#');
    const issuer = entry.slice(0, cut);
    principals.set(issuer, (principals.get(issuer) ?? new Set()).add(entry.slice(cut + 1)));
  }
  return ({ identity }) => identity !== undefined && principals.get(identity.issuer)?.has(identity.principal) === true;
}

/** SPIFFE IDs, exact or with everything below a last segment of `*`, against the fact `certificate`. */
function toSpiffeIds(entries: readonly string[]): Allows {
  const exact = new Set(entries.filter((entry) => !entry.endsWith('/*')));
  const below = entries.filter((entry) => entry.endsWith('/*')).map((entry) => entry.slice(0, -1));
  return ({ facts }) => {
    const id = spiffeId(facts.certificate);
    return id !== undefined && (exact.has(id) || below.some((start) => id.length > start.length && id.startsWith(start)));
  };
}

function spiffeId(certificate: unknown): string | undefined {
  if (typeof certificate !== 'object' || certificate === null || !Object.hasOwn(certificate, 'spiffe_id')) return undefined;
  const { spiffe_id } = certificate as { readonly spiffe_id: unknown };
  return typeof spiffe_id === 'string' ? spiffe_id : undefined;
}
