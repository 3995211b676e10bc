import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, EmbeddedJWK, type JWK } from 'jose';
import type { Clock, RequestHead, RouteInfo } from 'portcullis/gate';
import { isJsonObject, type JsonObject } from './json-object.js';
import { parseJws } from './jws.js';
import type { Options } from './options.js';
import { createReplayStore } from './replay-store.js';
import { toType } from './settings.js';

const PERIOD_MS = 300_000;

/** The result of checking a proof. `long`: it was not read. `full`: the replay memory holds only fresh proofs, so a replay cannot be detected. */
export type ProofCheck =
  | { readonly kind: 'good' }
  | { readonly kind: 'wrong'; readonly why: string }
  | { readonly kind: 'long' }
  | { readonly kind: 'nonce'; readonly nonce: string }
  | { readonly kind: 'full' };

export type ProofChecker = (head: RequestHead, token: string, thumbprint: string) => Promise<ProofCheck>;

const MAX_PROOF_CHARS = 4096;
const MAX_JTI_CHARS = 256;
const GOOD: ProofCheck = { kind: 'good' };

/**
 * Checks the DPoP field of a request against the token that it presents (RFC 9449 section 4.3). The key is compared with the
 * token’s before anything is computed with it, and only a proof that is right in everything else is remembered as used.
 */
export function createProofChecker(options: Options, route: RouteInfo, clock: Clock): ProofChecker {
  const { clock_tolerance_s, dpop_max_age_s, dpop_algorithms } = options;
  const used = createReplayStore(options.dpop_replay_entries, (dpop_max_age_s + 2 * clock_tolerance_s) * 1000);
  const nonces = options.dpop_nonce === 'require' ? createDpopNonces(options.dpop_nonce_secret) : undefined;
  return async (head, token, thumbprint) => {
    const fields = head.headers.all('dpop');
    const [proof] = fields;
    if (proof === undefined || proof === '') return wrong('A DPoP proof is required.');
    if (fields.length > 1) return wrong('Send the DPoP header once.');
    if (proof.length > MAX_PROOF_CHARS) return { kind: 'long' };
    const jws = parseJws(proof);
    if (jws === undefined) return wrong('The DPoP proof is not one signed JWT.');
    const { header, claims } = jws;
    const fault =
      headerFault(header, dpop_algorithms) ??
      claimsFault(claims, head, token, expectedUrl(route, head.path)) ??
      timeFault(claims.iat, clock.now_ms() / 1000, dpop_max_age_s, clock_tolerance_s) ??
      (await keyFault(proof, header, thumbprint, dpop_algorithms));
    if (fault !== undefined) return wrong(fault);
    if (nonces !== undefined && !nonces.accepts(claims.nonce, clock.now_ms()))
      return { kind: 'nonce', nonce: nonces.current(clock.now_ms()) };
    const use = used.use(hash('sha256', `${thumbprint} ${claims.jti as string}`, 'base64'), clock.mono_ms());
    if (use === 'full') return { kind: 'full' };
    return use === 'new' ? GOOD : wrong('The DPoP proof was used before.');
  };
}

/** The URL that the client dialled for this path, from configuration alone. */
export function expectedUrl(route: RouteInfo, path: string): string {
  if (route.path !== '*' && path === route.path) return route.url;
  const base = route.url.endsWith('/') ? route.url.slice(0, -1) : route.url;
  return base + (route.path === '*' || route.path === '/' ? path : path.slice(route.path.length));
}

function wrong(why: string): ProofCheck {
  return { kind: 'wrong', why };
}

function headerFault(header: JsonObject, algorithms: readonly string[]): string | undefined {
  if (typeof header.typ !== 'string' || toType(header.typ) !== 'dpop+jwt') return 'The typ of the DPoP proof must be dpop+jwt.';
  if (!algorithms.includes(header.alg as string)) return 'The algorithm of the DPoP proof is not accepted.';
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64'))
    return 'The header of the DPoP proof has a member that is not accepted.';
  return undefined;
}

function claimsFault(claims: JsonObject, head: RequestHead, token: string, url: string): string | undefined {
  const { jti, htm, htu, ath } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI_CHARS) return 'The DPoP proof has no usable jti.';
  if (htm !== head.method) return 'The htm of the DPoP proof is not the method of this request.';
  if (!isSameUrl(htu, url)) return 'The htu of the DPoP proof is not the URL of this request.';
  return ath === hash('sha256', token, 'base64url') ? undefined : 'The ath of the DPoP proof is not the hash of this token.';
}

/** Compared without query and fragment, after URL normalisation (RFC 9449 section 4.3, step 9). */
function isSameUrl(htu: unknown, expected: string): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false;
  const url = new URL(htu);
  url.search = '';
  url.hash = '';
  return url.href === new URL(expected).href;
}

function timeFault(iat: unknown, now_s: number, max_age_s: number, tolerance_s: number): string | undefined {
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 'The DPoP proof has no usable iat.';
  if (iat > now_s + tolerance_s) return 'The DPoP proof was made in the future.';
  return iat + max_age_s + tolerance_s > now_s ? undefined : 'The DPoP proof is too old.';
}

async function keyFault(proof: string, header: JsonObject, thumbprint: string, algorithms: readonly string[]): Promise<string | undefined> {
  const jwk = header.jwk;
  if (!isJsonObject(jwk) || ['d', 'p', 'q', 'k'].some((member) => Object.hasOwn(jwk, member)))
    return 'The DPoP proof must carry one public key as jwk.';
  try {
    if ((await calculateJwkThumbprint(jwk as JWK)) !== thumbprint) return 'The DPoP proof is by another key than the token is bound to.';
    await compactVerify(proof, EmbeddedJWK, { algorithms: [...algorithms] });
    return undefined;
  } catch {
    return 'The signature of the DPoP proof is wrong.';
  }
}

/** Nonces that a DPoP proof must carry (RFC 9449 section 9). Nothing is stored: a nonce is a keyed hash of the time. */
interface DpopNonces {
  current(now_ms: number): string;
  /** True for the nonce of this period and of the one before. */
  accepts(nonce: unknown, now_ms: number): boolean;
}

/** Nonces change every five minutes. Without a secret they are known to this process alone. */
export function createDpopNonces(secret: string | undefined): DpopNonces {
  const key = secret ?? randomBytes(32);
  const at = (period: number) => createHmac('sha256', key).update(`portcullis dpop nonce ${period}`).digest('base64url');
  const periodOf = (now_ms: number) => Math.floor(now_ms / PERIOD_MS);
  return {
    current: (now_ms) => at(periodOf(now_ms)),
    accepts: (nonce, now_ms) =>
      typeof nonce === 'string' && [periodOf(now_ms), periodOf(now_ms) - 1].some((period) => isEqual(nonce, at(period))),
  };
}

function isEqual(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  const wanted = Buffer.from(expected);
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
}
