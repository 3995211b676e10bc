import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { VerifiedToken } from './verified-token.js';

/** Verified tokens by the SHA-256 of their text; the tokens themselves are not kept. */
export interface Remembered {
  /** The token if it may still be used without checking: not expired, and no key of its issuer was withdrawn since. */
  get(digest: string, now_ms: number): VerifiedToken | undefined;
  set(digest: string, token: VerifiedToken, now_ms: number, token_bytes: number): void;
  readonly size: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const ENTRY_BYTES = 1024;

/** Keeps at most `max` tokens and about 64 MiB; beyond, the least recently used is forgotten. 0 keeps none. */
export function createRemembered(max: number): Remembered {
  if (max === 0) return { get: () => undefined, set: () => {}, size: 0 };
  const tokens = new LRUCache<string, VerifiedToken>({ max, maxSize: MAX_BYTES });
  return {
    get: (digest, now_ms) => {
      const token = tokens.get(digest);
      if (token === undefined || (now_ms < token.use_until_ms && (token.keys === undefined || token.keys.epoch === token.epoch)))
        return token;
      tokens.delete(digest);
      return undefined;
    },
    set: (digest, token, now_ms, token_bytes) => {
      if (now_ms < token.use_until_ms) tokens.set(digest, token, { size: ENTRY_BYTES + 2 * token_bytes });
    },
    get size() {
      return tokens.size;
    },
  };
}

export function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}
