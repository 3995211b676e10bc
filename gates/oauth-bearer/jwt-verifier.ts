import type { Clock } from 'portcullis/gate';
import { parseJws } from './jws.js';
import type { Keyring } from './keyring.js';
import { type Settings, toType } from './settings.js';
import { judgeClaims, type TokenCheck } from './verified-token.js';

/** Header members through which a token would choose its own key or rules; a token that has one is refused (RFC 8725 section 3.10). */
const FORBIDDEN_HEADERS = ['jwk', 'jku', 'x5u', 'crit', 'b64', 'enc', 'zip'];

export type JwtVerifier = (compact: string) => Promise<TokenCheck>;

/** Verifies JWT access tokens (RFC 9068): shape, header and claims first, then the signature with the keys of the issuer named. */
export function createJwtVerifier(settings: Settings, keyring: Keyring, clock: Clock): JwtVerifier {
  const { options, types } = settings;
  const algorithms: readonly string[] = options.algorithms;
  return async (compact) => {
    const jws = parseJws(compact);
    if (jws === undefined) return invalid('The token is not a JWT.');
    const { header, claims } = jws;
    if (!algorithms.includes(header.alg as string)) return invalid('The algorithm of the token is not accepted.');
    if (!types.has(toTyp(header.typ))) return invalid('The token is not an access token by its typ.');
    if (FORBIDDEN_HEADERS.some((name) => Object.hasOwn(header, name)))
      return invalid('The header of the token has a member that is not accepted.');
    if (header.kid !== undefined && typeof header.kid !== 'string') return invalid('The kid of the token is not a string.');
    const keys = typeof claims.iss === 'string' ? keyring.get(claims.iss) : undefined;
    if (keys === undefined) return invalid('The token is from another issuer.');
    const rules = { issuer: claims.iss as string, exp_required: true, aud_required: true, keys };
    const check = judgeClaims(claims, rules, settings, clock.now_ms());
    if (check.kind !== 'verified') return check;
    const verdict = await keys.verify(compact, header, algorithms);
    if (verdict === 'unavailable') return { kind: 'unavailable', retry_after_s: keys.retry_after_s };
    return verdict === 'verified' ? check : invalid('The signature of the token is wrong or its key is unknown.');
  };
}

function toTyp(typ: unknown): string {
  if (typ === undefined) return 'jwt';
  return typeof typ === 'string' ? toType(typ) : '';
}

function invalid(why: string): TokenCheck {
  return { kind: 'invalid', why };
}
