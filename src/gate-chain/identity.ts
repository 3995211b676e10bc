import type { Facts, Identity } from '../contract/identity.js';

/** What a gate said about the caller, checked and copied. */
export interface Claimed {
  readonly principal: string;
  readonly issuer: string;
  readonly scopes: ReadonlySet<string>;
  readonly client: string | undefined;
  readonly expires_at_ms: number | undefined;
}

/** The frozen identity of a caller. Written out, as each shape is built on every request: a spread costs a microsecond. */
export function toIdentity({ principal, issuer, scopes, client, expires_at_ms }: Claimed, facts: Facts): Identity {
  if (client === undefined) {
    if (expires_at_ms === undefined) return Object.freeze({ principal, issuer, scopes, facts });
    return Object.freeze({ principal, issuer, scopes, expires_at_ms, facts });
  }
  if (expires_at_ms === undefined) return Object.freeze({ principal, issuer, scopes, client, facts });
  return Object.freeze({ principal, issuer, scopes, client, expires_at_ms, facts });
}
