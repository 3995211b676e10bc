import type { Facts, Identity } from '../contract/identity.js';

/** Who calls, as the host's own authentication verified it. Never made from a header that it did not verify. */
export interface MountAuth {
  readonly principal: string;
  /** Default `host`. */
  readonly issuer?: string;
  readonly scopes?: Iterable<string>;
  readonly client?: string;
  /** Milliseconds since the epoch: a subscription ends no later. */
  readonly expires_at_ms?: number;
  readonly facts?: Facts;
}

/** What the host's authentication puts on a request. */
export interface MountCaller {
  readonly mcpAuth?: MountAuth | undefined;
  /** A verified client instance: `notifications/cancelled` can cancel only its own requests. */
  readonly mcpCancellationScope?: string | undefined;
}

/** The identity of a request; undefined when the host set none. Throws TypeError for one without a principal: it must not pass as anonymous. */
export function identityOf(auth: MountAuth | null | undefined): Identity | undefined {
  if (auth === undefined || auth === null) return undefined;
  const { principal, issuer = 'host', scopes = [], client, expires_at_ms, facts = {} } = auth;
  if (typeof principal !== 'string' || principal === '') throw new TypeError('mcpAuth.principal must be a text that is not empty');
  if (typeof scopes === 'string') throw new TypeError('mcpAuth.scopes must be a list');
  return Object.freeze({
    principal,
    issuer,
    scopes: new Set(scopes),
    facts,
    ...(client === undefined ? {} : { client }),
    ...(expires_at_ms === undefined ? {} : { expires_at_ms }),
  });
}
