import type { Identity } from '../../contract/identity.js';

/**
 * The value of a route's `forward_identity` header: base64url of the compact JSON `{ iss, sub, client_id?, scope, exp? }`.
 * ASCII whatever the principal holds; `scope` is space-separated, `exp` in seconds since the epoch (RFC 7519 claim names).
 * It is not signed: the upstream must be reachable through the gateway only, or ask for a static header beside it.
 */
export function forwardedIdentity(identity: Identity): string {
  return Buffer.from(JSON.stringify(forwardedClaims(identity))).toString('base64url');
}

/** Who calls, for a server: the claims of `forwardedIdentity` as an object. */
export function forwardedClaims(identity: Identity): object {
  return {
    iss: identity.issuer,
    sub: identity.principal,
    client_id: identity.client,
    scope: [...identity.scopes].join(' '),
    exp: identity.expires_at_ms === undefined ? undefined : Math.floor(identity.expires_at_ms / 1000),
  };
}
