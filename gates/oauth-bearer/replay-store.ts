/** Remembers what was used once, for a fixed time. */
export interface ReplayStore {
  /** `new`: it was not there and is now. `used`: refuse it. `full`: all places hold something fresh, nothing was kept. */
  use(key: string, now_ms: number): 'new' | 'used' | 'full';
  readonly size: number;
}

/**
 * Keeps each key for `keep_ms`, at most `max` of them. A fresh key is never dropped to make room: that would let it be
 * used again. Time is monotonic, so insertion order is expiry order and each call does a bounded amount of work.
 */
export function createReplayStore(max: number, keep_ms: number): ReplayStore {
  const expiries = new Map<string, number>();
  return {
    use: (key, now_ms) => {
      dropExpired(expiries, now_ms);
      const expires_ms = expiries.get(key);
      if (expires_ms !== undefined && expires_ms > now_ms) return 'used';
      expiries.delete(key);
      if (expiries.size >= max) return 'full';
      expiries.set(key, now_ms + keep_ms);
      return 'new';
    },
    get size() {
      return expiries.size;
    },
  };
}

const DROPS_PER_CALL = 16;

function dropExpired(expiries: Map<string, number>, now_ms: number): void {
  let left = DROPS_PER_CALL;
  for (const [key, expires_ms] of expiries) {
    if (expires_ms > now_ms || left === 0) return;
    expiries.delete(key);
    left -= 1;
  }
}
