import { compactVerify, createLocalJWKSet, errors, type JWK } from 'jose';
import { isJsonObject, type JsonObject, parseJsonObject } from './json-object.js';
import { SourceFailure } from './source-failure.js';

/** The public signature keys of one issuer at one moment. */
export interface KeySet {
  readonly size: number;
  /** One text for each key; equal texts are the same key. */
  readonly fingerprints: ReadonlySet<string>;
  /** `unknown_key`: no key of this set has the token’s `kid`, or, without `kid`, none fits. Never rejects. */
  verify(compact: string, header: JsonObject, algorithms: readonly string[]): Promise<'verified' | 'wrong' | 'unknown_key'>;
}

const MAX_KEYS = 100;
const MAX_CANDIDATES = 8;
const PUBLIC_TYPES = new Set<unknown>(['RSA', 'EC', 'OKP']);
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/**
 * Reads a JWK Set (RFC 7517): at most 100 keys; symmetric, private and encryption keys and keys of unknown type are passed over. Throws
 * SourceFailure when it is no set, too large a set, or has no usable key.
 */
export function parseKeySet(body: Uint8Array): KeySet {
  const set = parseJsonObject(body);
  if (set === undefined || !Array.isArray(set.keys)) throw new SourceFailure('malformed', 'the keys are not a JWK Set: {"keys":[…]}');
  if (set.keys.length > MAX_KEYS) throw new SourceFailure('too_many_keys', `the JWK Set has more than ${MAX_KEYS} keys`);
  const keys = set.keys.filter(isSignatureKey);
  if (keys.length === 0) throw new SourceFailure('no_keys', 'the JWK Set has no public signature key');
  return toKeySet(keys);
}

function isSignatureKey(key: unknown): key is JWK {
  if (!isJsonObject(key) || !PUBLIC_TYPES.has(key.kty)) return false;
  if (PRIVATE_MEMBERS.some((member) => Object.hasOwn(key, member))) return false;
  return key.use === undefined || key.use === 'sig';
}

function toKeySet(keys: readonly JWK[]): KeySet {
  const select = createLocalJWKSet({ keys: [...keys] });
  const ids = new Set(keys.map((key) => key.kid));
  return {
    size: keys.length,
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
