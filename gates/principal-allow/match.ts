import type { GateContext } from 'portcullis/gate';

/** One list's verdict on a caller. */
export type Allows = (context: GateContext) => boolean;

/**
 * Callers written `issuer#principal`. The issuer ends at the first `#` (an OAuth issuer has no fragment, RFC 8414 section 2),
 * so no two callers are written alike; an identity whose issuer holds a `#` is never met.
 */
export function toPrincipals(entries: readonly string[]): Allows {
  const principals = new Map<string, Set<string>>();
  for (const entry of entries) {
    const cut = entry.indexOf('#');
    const issuer = entry.slice(0, cut);
    principals.set(issuer, (principals.get(issuer) ?? new Set()).add(entry.slice(cut + 1)));
  }
  return ({ identity }) => identity !== undefined && principals.get(identity.issuer)?.has(identity.principal) === true;
}

/** SPIFFE IDs, exact or with everything below a last segment of `*`, against the fact `certificate`. */
export function toSpiffeIds(entries: readonly string[]): Allows {
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
