import type { Facts } from 'portcullis/gate';

const NONE: ReadonlySet<string> = new Set();

/**
 * The caller's groups: the fact called `claim` if it is a list, else that claim of the fact `token`, by its exact name or, when
 * the name starts with `/`, by JSON pointer (RFC 6901). A list of strings, or one string: one group. Anything else is no group.
 */
export function groupsOf(facts: Facts, claim: string): ReadonlySet<string> {
  const own = Object.hasOwn(facts, claim) ? facts[claim] : undefined;
  if (Array.isArray(own)) return toSet(own);
  const token = Object.hasOwn(facts, 'token') ? facts.token : undefined;
  if (typeof token !== 'object' || token === null) return NONE;
  return toSet(Object.hasOwn(token, claim) ? (token as Facts)[claim] : claim.startsWith('/') ? point(token, claim) : undefined);
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

function toSet(value: unknown): ReadonlySet<string> {
  if (typeof value === 'string') return new Set([value]);
  return Array.isArray(value) ? new Set(value.filter((item) => typeof item === 'string')) : NONE;
}
