import type { Clock, GateHost } from 'portcullis/gate';
import { createEndpoint } from './endpoint.js';
import { Introspection } from './introspection.js';
import type { IssuerKeys } from './issuer-keys.js';
import { isThreeSegments, parseJws } from './jws.js';
import { type Keyring, openKeyring } from './keyring.js';
import { type Settings, toType } from './settings.js';
import { judgeClaims, type TokenCheck } from './verified-token.js';

/** Header members through which a token would choose its own key or rules; a token that has one is refused (RFC 8725 section 3.10). */
const FORBIDDEN_HEADERS = ['jwk', 'jku', 'x5u', 'crit', 'b64', 'enc', 'zip'];

/** How a token that is not cached is checked: here, at the authorization server, or both. */
export interface TokenChecker {
  check(token: string): Promise<TokenCheck>;
  close(): Promise<void>;
}

export function openTokenChecker(settings: Settings, host: GateHost): TokenChecker {
  const keyring = openKeyring(settings, host);
  const verify = createJwtVerifier(settings, keyring, host.clock);
  const config = settings.options.introspection;
  const issuer = settings.introspection_issuer;
  if (config === undefined || issuer === undefined) return { check: verify, close: async () => {} };
  const introspection = new Introspection({
    config,
    settings,
    issuer,
    keys: keyring.get(issuer) as IssuerKeys,
    endpoint: createEndpoint({ kind: 'keep', max: 16 }, host.egress),
    clock: host.clock,
    log: host.log,
    gate: host.name,
    answers: host.metrics.counter('introspections_total', 'Answers of the introspection endpoint by outcome.', ['gate', 'outcome']),
  });
  return {
    check: async (token) => {
      if (!isThreeSegments(token)) return introspection.check(token);
      const local = await verify(token);
      if (config.tokens === 'opaque' || local.kind !== 'verified' || local.token.decision.identity.issuer !== issuer) return local;
      return introspection.check(token, local.token);
    },
    close: () => introspection.close(),
  };
}

type JwtVerifier = (compact: string) => Promise<TokenCheck>;

/** Verifies JWT access tokens (RFC 9068): shape, header and claims first, then the signature with the keys of the issuer named. */
function createJwtVerifier(settings: Settings, keyring: Keyring, clock: Clock): JwtVerifier {
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
