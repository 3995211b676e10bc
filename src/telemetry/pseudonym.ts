import { createHash } from 'node:crypto';

/** One name for issuer and principal together: equal callers stay equal, and a guessable name can be guessed. */
export function pseudonymOf(identity: { readonly issuer: string; readonly principal: string }): string {
  return `sha256:${createHash('sha256').update(`${identity.issuer}\n${identity.principal}`).digest('hex')}`;
}
