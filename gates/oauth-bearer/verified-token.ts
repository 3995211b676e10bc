import type { GateDecision } from 'portcullis/gate';
import { type Caller, toCaller } from './caller.js';
import { type Binding, type ClaimRules, findFault, readBinding } from './claims.js';
import type { IssuerKeys } from './issuer-keys.js';
import type { JsonObject } from './json-object.js';
import type { Settings } from './settings.js';

/** A token that was found good, with all that later requests need to use it again. Frozen. */
export interface VerifiedToken {
  readonly decision: Extract<GateDecision, { kind: 'identify' }>;
  readonly scopes: ReadonlySet<string>;
  readonly binding: Exclude<Binding, 'unknown'>;
  /** Milliseconds since the epoch; from then on it must be checked again. */
  readonly use_until_ms: number;
  /** The keys that verified it; undefined for a token that only the authorization server can read. */
  readonly keys: IssuerKeys | undefined;
  /** `keys.epoch` at that time. */
  readonly epoch: number;
}

/** What checking a token came to. `invalid` says why, in words for the client. */
export type TokenCheck =
  | { readonly kind: 'verified'; readonly token: VerifiedToken }
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'unavailable'; readonly retry_after_s: number };

/** Judges claims whose origin is certain already. */
export function judgeClaims(
  claims: JsonObject,
  rules: ClaimRules & { readonly use_until_ms?: number; readonly keys?: IssuerKeys },
  settings: Settings,
  now_ms: number,
): TokenCheck {
  const fault = findFault(claims, rules, settings, now_ms);
  if (fault !== undefined) return { kind: 'invalid', why: fault };
  const binding = readBinding(claims);
  if (binding === 'unknown') return { kind: 'invalid', why: 'The token is bound in a way that cannot be checked here.' };
  const caller = toCaller(claims, rules.issuer, settings.options);
  if (caller === undefined) return { kind: 'invalid', why: 'The token names no usable principal.' };
  return { kind: 'verified', token: toVerified(caller, binding, rules) };
}

function toVerified(
  { identity, facts }: Caller,
  binding: Exclude<Binding, 'unknown'>,
  rules: { readonly use_until_ms?: number; readonly keys?: IssuerKeys },
): VerifiedToken {
  const ends = [identity.expires_at_ms, rules.use_until_ms].filter((end) => end !== undefined);
  return Object.freeze({
    decision: Object.freeze({ kind: 'identify', identity: Object.freeze(identity), facts }),
    scopes: identity.scopes,
    binding,
    use_until_ms: ends.length === 0 ? 0 : Math.min(...ends),
    keys: rules.keys,
    epoch: rules.keys?.epoch ?? 0,
  });
}
