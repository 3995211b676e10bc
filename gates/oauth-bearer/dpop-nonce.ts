import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Nonces that a DPoP proof must carry (RFC 9449 section 9). Nothing is stored: a nonce is a keyed hash of the time. */
export interface DpopNonces {
  current(now_ms: number): string;
  /** True for the nonce of this period and of the one before. */
  accepts(nonce: unknown, now_ms: number): boolean;
}

const PERIOD_MS = 300_000;

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
