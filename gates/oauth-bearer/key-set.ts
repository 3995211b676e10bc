import { type CryptoKey, compactVerify, createLocalJWKSet, errors, type JWK } from 'jose';
import { SourceFailure } from './endpoint.js';
import { isJsonObject, type JsonObject, parseDocument } from './json-object.js';

/** The public signature keys of one issuer at one moment. */
export interface KeySet {
  readonly size: number;
  /** One text for each key; equal texts are the same key. */
  readonly fingerprints: ReadonlySet<string>;
  /** The entries of the set that no token is verified with, in its order. */
  readonly skipped: readonly SkippedKey[];
  /** `unknown_key`: no key of this set has the token’s `kid`, or, without `kid`, none fits. Never rejects. */
  verify(compact: string, header: JsonObject, algorithms: readonly string[]): Promise<'verified' | 'wrong' | 'unknown_key'>;
}

/** An entry of a JWK Set that is not used. */
export interface SkippedKey {
  /** Its `kid` in quotes, at most 64 characters of it; its place in the set when it has none. */
  readonly key: string;
  readonly why: string;
  /** False for an encryption key, which many issuers publish beside the others. */
  readonly faulty: boolean;
}

const MAX_KEYS = 100;
const MAX_CANDIDATES = 8;
const MAX_KID_CHARS = 64;
const MIN_RSA_BITS = 2048;
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const CURVES: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512', Ed25519: 'Ed25519' };

/**
 * Reads a JWK Set (RFC 7517): at most 100 keys; symmetric, private and encryption keys, keys of unknown type or curve, RSA keys
 * under 2 048 bits and keys that cannot be imported are skipped, the others serve. Throws SourceFailure when it is not a key set, too
 * large a set, or has no usable key.
 */
export async function parseKeySet(body: Uint8Array): Promise<KeySet> {
  const set = parseDocument(body);
  if (set === undefined || !Array.isArray(set.keys)) throw new SourceFailure('malformed', 'the keys are not a JWK Set: {"keys":[…]}');
  if (set.keys.length > MAX_KEYS) throw new SourceFailure('too_many_keys', `the JWK Set has more than ${MAX_KEYS} keys`);
  const keys: JWK[] = [];
  const skipped: SkippedKey[] = [];
  for (const [place, entry] of set.keys.entries()) {
    const why = await whyUnusable(entry);
    if (why === undefined) keys.push(entry as JWK);
    else skipped.push({ key: nameOf(entry, place), why, faulty: why !== ENCRYPTION });
  }
  if (keys.length === 0) {
    const [first] = skipped;
    const detail = first === undefined ? '' : `; ${first.key}: ${first.why}`;
    throw new SourceFailure('no_keys', `the JWK Set has no usable public signature key${detail}`);
  }
  return toKeySet(keys, skipped);
}

const ENCRYPTION = 'it is for encryption';
const ENCRYPTION_ALG = /^(?:RSA-OAEP|RSA1_5|ECDH-ES)/;

async function whyUnusable(entry: unknown): Promise<string | undefined> {
  if (!isJsonObject(entry)) return 'it is not an object';
  if (entry.use === 'enc' || ENCRYPTION_ALG.test(String(entry.alg))) return ENCRYPTION;
  if (entry.use !== undefined && entry.use !== 'sig') return 'its use is not sig';
  if (entry.kty === 'oct') return 'it is symmetric';
  if (PRIVATE_MEMBERS.some((member) => Object.hasOwn(entry, member))) return 'it is private, and published: replace it at the issuer';
  if (entry.kty !== 'RSA' && entry.kty !== 'EC' && entry.kty !== 'OKP') return 'its kty is unknown';
  const algorithm = entry.kty === 'RSA' ? 'RS256' : CURVES[String(entry.crv)];
  if (algorithm === undefined) return 'its crv is not supported';
  try {
    const key = (await createLocalJWKSet({ keys: [entry as JWK] })({
      alg: typeof entry.alg === 'string' ? entry.alg : algorithm,
    })) as CryptoKey;
    const { modulusLength: bits = MIN_RSA_BITS } = key.algorithm as { readonly modulusLength?: number };
    return bits < MIN_RSA_BITS ? `it has ${bits} bits; at least ${MIN_RSA_BITS} are needed` : undefined;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'its alg, key_ops or ext do not allow verification';
    return error instanceof errors.JOSENotSupported ? 'its alg is not supported' : 'it cannot be imported';
  }
}

function nameOf(entry: unknown, place: number): string {
  const kid = isJsonObject(entry) ? entry.kid : undefined;
  return typeof kid === 'string' ? JSON.stringify(kid.slice(0, MAX_KID_CHARS)) : `key ${place + 1} of the set`;
}

function toKeySet(keys: readonly JWK[], skipped: readonly SkippedKey[]): KeySet {
  const select = createLocalJWKSet({ keys: [...keys] });
  const ids = new Set(keys.map((key) => key.kid));
  return {
    size: keys.length,
    skipped,
    fingerprints: new Set(keys.map((key) => JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1))))),
    verify: async (compact, header, algorithms) => {
      const options = { algorithms: [...algorithms] };
      try {
        await compactVerify(compact, select, options);
        return 'verified';
      } catch (error) {
        if (error instanceof errors.JWKSMultipleMatchingKeys) return tryEach(compact, error, options);
        if (header.kid === undefined) return 'unknown_key';
        return error instanceof errors.JWKSNoMatchingKey && !ids.has(header.kid as string) ? 'unknown_key' : 'wrong';
      }
    },
  };
}

/** Without a `kid`, or with one that several keys share, at most eight keys are tried. */
async function tryEach(
  compact: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: { readonly algorithms: string[] },
): Promise<'verified' | 'unknown_key'> {
  let tried = 0;
  for await (const key of candidates) {
    if ((tried += 1) > MAX_CANDIDATES) break;
    try {
      await compactVerify(compact, key, options);
      return 'verified';
    } catch {
      // The next candidate may fit.
    }
  }
  return 'unknown_key';
}
