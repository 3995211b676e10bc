import type { Facts } from 'portcullis/gate';

const NONE: readonly unknown[] = [];

/**
 * The caller's groups: the fact called `claim` if it is a list, else that claim of the fact `token`, by its exact name or, when
 * the name starts with `/`, by JSON pointer (RFC 6901). A list, or one string: one group. What is not a string in a list equals no group's name.
 */
export function groupsOf(facts: Facts, claim: string): readonly unknown[] {
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
