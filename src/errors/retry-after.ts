import type { HeaderInit } from '../contract/gate.js';

/**
 * Value of a `Retry-After` header in seconds (RFC 9110 section 10.2.3): `least_s`, rounded up and at least 1 (the default), plus 0 to
 * 4 by chance, so that callers refused at the same moment do not come back at the same moment. `random` is as `Math.random`.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { retryAfter } from 'portcullis/gate';
 *
 * assert.equal(retryAfter(2.5, () => 0), '3');
 * const refusal = { kind: 'refuse', status: 429, code: 'QUOTA', headers: { 'retry-after': retryAfter(30) } } as const;
 * assert.match(refusal.headers['retry-after'], /^3[0-4]$/);
 * ```
 */
export function retryAfter(least_s = 1, random: () => number = Math.random): string {
  return String(Math.max(1, Math.ceil(least_s)) + Math.floor(5 * random()));
}

/** True for a 503 without a `Retry-After`: the sender adds one. */
export function lacksRetryAfter(error: { readonly status: number; readonly headers?: HeaderInit | undefined }): boolean {
  return error.status === 503 && !Object.keys(error.headers ?? {}).some((name) => name.toLowerCase() === 'retry-after');
}
