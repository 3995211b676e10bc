import { isJsonObject, type JsonObject } from './json-object.js';
import type { Settings } from './settings.js';

const MAX_LIFETIME_S = 10 * 366 * 86_400;

/** What one token must fulfil beside its signature. */
export interface ClaimRules {
  readonly issuer: string;
  /** False: `exp` may be missing, as RFC 7662 answers may. */
  readonly exp_required: boolean;
  /** False: `aud` may be missing; one that names others still refuses. */
  readonly aud_required: boolean;
}

/** Why the claims do not admit the caller, in words for it; undefined when they do. RFC 9068 section 4, RFC 8725 section 3. */
export function findFault(claims: JsonObject, rules: ClaimRules, settings: Settings, now_ms: number): string | undefined {
  return (
    issuerFault(claims, rules) ??
    idTokenFault(claims) ??
    audienceFault(claims, rules, settings) ??
    timeFault(claims, rules, settings, now_ms / 1000)
  );
}

/** The bindings of `cnf` (RFC 7800): to a certificate (RFC 8705) or to a proof key (RFC 9449). `unknown` cannot be checked and refuses. */
export type Binding = { readonly certificate: string | undefined; readonly key: string | undefined } | 'unknown';

export function readBinding(claims: JsonObject): Binding {
  if (!Object.hasOwn(claims, 'cnf')) return UNBOUND;
  const cnf = claims.cnf;
  if (!isJsonObject(cnf)) return 'unknown';
  const names = Object.keys(cnf);
  if (names.length === 0 || names.some((name) => name !== 'x5t#S256' && name !== 'jkt')) return 'unknown';
  const certificate = cnf['x5t#S256'];
  const key = cnf.jkt;
  if (!isThumbprint(certificate) || !isThumbprint(key)) return 'unknown';
  return { certificate, key };
}

const UNBOUND: Binding = { certificate: undefined, key: undefined };

function isThumbprint(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && /^[A-Za-z0-9_-]{43}$/.test(value));
}

function issuerFault(claims: JsonObject, rules: ClaimRules): string | undefined {
  return claims.iss === rules.issuer ? undefined : 'The token is from another issuer.';
}

function idTokenFault(claims: JsonObject): string | undefined {
  for (const name of ['nonce', 'at_hash', 'c_hash', 's_hash'])
    if (Object.hasOwn(claims, name)) return 'An ID token is not an access token.';
  return undefined;
}

function audienceFault(claims: JsonObject, rules: ClaimRules, settings: Settings): string | undefined {
  const aud = claims.aud;
  if (aud === undefined && !rules.aud_required) return undefined;
  const named = Array.isArray(aud) ? aud : [aud];
  if (named.every((one) => typeof one === 'string') && named.some((one) => settings.audiences.includes(one as string))) return undefined;
  return 'The token is meant for another audience.';
}

function timeFault(claims: JsonObject, rules: ClaimRules, { options }: Settings, now_s: number): string | undefined {
  const { exp, nbf, iat } = claims;
  const tolerance = options.clock_tolerance_s;
  if (exp !== undefined || rules.exp_required) {
    if (!isDate(exp)) return 'The token has no usable exp.';
    if (exp > now_s + MAX_LIFETIME_S) return 'The exp of the token is too far away.';
    if (exp + tolerance <= now_s) return 'The token has expired.';
  }
  if (nbf !== undefined && (!isDate(nbf) || nbf > now_s + tolerance)) return 'The token is not valid yet.';
  if (iat !== undefined && (!isDate(iat) || iat > now_s + tolerance)) return 'The token was issued in the future.';
  if (options.max_token_age_s === undefined) return undefined;
  return isDate(iat) && iat + options.max_token_age_s + tolerance > now_s ? undefined : 'The token was issued too long ago.';
}

function isDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
