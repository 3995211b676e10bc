import { type GateDecision, type HeaderInit, type RefuseStatus, retryAfter } from 'portcullis/gate';

/** The refusal codes of this gate, for docs/errors.md. */
export const codes = {
  TOKEN_REQUIRED: {
    status: 401,
    meaning: 'The request carries no access token, or another authentication scheme.',
    remedy: 'Get a token from an authorization server of the resource metadata and send Authorization: Bearer TOKEN.',
  },
  TOKEN_REQUEST_INVALID: {
    status: 400,
    meaning: 'The Authorization header is repeated or malformed, or a token is in the query as well.',
    remedy: 'Send one Authorization header with one token, and no token in the URL.',
  },
  TOKEN_INVALID: {
    status: 401,
    meaning: 'The token is malformed, expired, revoked, meant for another audience, from another issuer, wrongly bound or wrongly signed.',
    remedy: 'Get a new token for exactly the `resource` of the resource metadata.',
  },
  TOKEN_TOO_LONG: {
    status: 431,
    meaning: 'The token is longer than max_token_bytes. The answer has no challenge: a new login would bring the same token.',
    remedy: 'Have the authorization server put less into the token (groups, roles), or raise max_token_bytes.',
  },
  SCOPE_INSUFFICIENT: {
    status: 403,
    meaning: 'The token is good but lacks a scope that this call needs.',
    remedy: 'Get a token with all scopes of the challenge.',
  },
  DPOP_PROOF_INVALID: {
    status: 401,
    meaning: 'The DPoP proof is missing, wrong, too old or used before.',
    remedy: 'Make a new proof for this method, URL and token with the key that the token is bound to.',
  },
  DPOP_PROOF_TOO_LONG: {
    status: 431,
    meaning: 'The DPoP proof is longer than 4 096 characters.',
    remedy: 'Make the proof with a smaller key, and with no claims beyond those of RFC 9449.',
  },
  DPOP_NONCE_REQUIRED: {
    status: 401,
    meaning: 'The DPoP proof lacks a current nonce.',
    remedy: 'Make a new proof with the nonce of the DPoP-Nonce header.',
  },
  TOKEN_CHECK_UNAVAILABLE: {
    status: 503,
    meaning:
      'The token cannot be checked now: the authorization server’s keys or its introspection endpoint are out of reach, or too many DPoP proofs are fresh.',
    remedy: 'Keep the token and retry after the Retry-After seconds. Operator: see jwks_fetches_total and the log.',
  },
} as const;

type Code = keyof typeof codes;
type TokenRefusal = Extract<GateDecision, { kind: 'refuse' }>;

/** Every refusal of one gate instance: status, code and exactly one challenge unless stated (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface Challenges {
  required(scopes: readonly string[]): TokenRefusal;
  malformed(why: string, scopes: readonly string[]): TokenRefusal;
  invalid(scheme: 'Bearer' | 'DPoP', why: string, scopes: readonly string[]): TokenRefusal;
  /** 431 without a challenge, so that no client logs in again for the same token. */
  tooLong(what: 'token' | 'proof'): TokenRefusal;
  /** `about`: as in `GateDecision`; `call` when the token has every scope but those that this call asks for. */
  insufficient(scheme: 'Bearer' | 'DPoP', scopes: readonly string[], about: 'call' | 'caller'): TokenRefusal;
  proof(why: string, scopes: readonly string[]): TokenRefusal;
  nonce(nonce: string, scopes: readonly string[]): TokenRefusal;
  /** 503 without a challenge, so that no client throws a good token away. */
  unavailable(retry_after_s: number): TokenRefusal;
}

/**
 * Challenges that carry `resource_metadata`, the scopes of the call, and `error` where there is one; nothing else.
 * `dpopOnly`: every token must be bound, so the first challenge asks for DPoP. `first_scopes` replace those of the call in each 401.
 */
export function createChallenges(
  resourceMetadata: string,
  dpopAlgorithms: readonly string[],
  dpopOnly: boolean,
  first_scopes: readonly string[] | undefined,
): Challenges {
  const first = dpopOnly ? 'DPoP' : 'Bearer';
  const metadata = ['resource_metadata', resourceMetadata] as const;
  const login = (scopes: readonly string[]): Parameter => scope(first_scopes ?? scopes);
  const algs = ['algs', dpopAlgorithms.join(' ')] as const;
  const of = (scheme: 'Bearer' | 'DPoP', ...parameters: readonly Parameter[]) =>
    toChallenge(scheme, scheme === 'DPoP' ? [algs, ...parameters] : parameters);
  return {
    required: (scopes) => refuse('TOKEN_REQUIRED', 'An access token is required.', of(first, metadata, login(scopes))),
    malformed: (why, scopes) => refuse('TOKEN_REQUEST_INVALID', why, of(first, ['error', 'invalid_request'], metadata, scope(scopes))),
    invalid: (scheme, why, scopes) =>
      refuse('TOKEN_INVALID', why, of(scheme, ['error', 'invalid_token'], ['error_description', why], metadata, login(scopes))),
    tooLong: (what) =>
      what === 'token'
        ? refuse('TOKEN_TOO_LONG', 'The token is too long for this gateway; another login would not shorten it.', {})
        : refuse('DPOP_PROOF_TOO_LONG', 'The DPoP proof is too long.', {}),
    insufficient: (scheme, scopes, about) => ({
      ...refuse(
        'SCOPE_INSUFFICIENT',
        'The token lacks a scope; the challenge names all that this call needs.',
        of(scheme, ['error', 'insufficient_scope'], scope(scopes), metadata),
      ),
      about,
    }),
    proof: (why, scopes) => refuse('DPOP_PROOF_INVALID', why, of('DPoP', ['error', 'invalid_dpop_proof'], metadata, login(scopes))),
    nonce: (nonce, scopes) =>
      refuse('DPOP_NONCE_REQUIRED', 'The DPoP proof needs the nonce of the DPoP-Nonce header.', {
        ...of('DPoP', ['error', 'use_dpop_nonce'], metadata, login(scopes)),
        'dpop-nonce': nonce,
      }),
    unavailable: (retry_after_s) =>
      refuse('TOKEN_CHECK_UNAVAILABLE', 'The token cannot be checked right now; keep it and retry.', {
        'retry-after': retryAfter(retry_after_s),
      }),
  };
}

type Parameter = readonly [name: string, value: string];

function scope(scopes: readonly string[]): Parameter {
  return ['scope', scopes.join(' ')];
}

function refuse(code: Code, message: string, headers: HeaderInit): TokenRefusal {
  const status: RefuseStatus = codes[code].status;
  return { kind: 'refuse', status, code, message, headers: { ...headers, 'cache-control': 'no-store' } };
}

/** One field line. Parameters without a value are left out; values are quoted strings (RFC 9110 section 5.6.4). */
function toChallenge(scheme: string, parameters: readonly Parameter[]): HeaderInit {
  const list = parameters.filter(([, value]) => value !== '').map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`);
  return { 'www-authenticate': `${scheme} ${list.join(', ')}` };
}
