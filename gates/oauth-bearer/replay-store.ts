/** Remembers what was used once, for a fixed time. */
export interface ReplayStore {
  /** `new`: it was not there and is now. `used`: refuse it. `full`: all places hold something fresh, nothing was kept. */
  use(key: string, now_ms: number): 'new' | 'used' | 'full';
  readonly size: number;
}

/** One key that was used, and the one that was used next. */
interface Used {
  readonly key: string;
  readonly expires_ms: number;
  next: Used | undefined;
}

/**
 * Keeps each key for `keep_ms`, at most `max` of them. A fresh key is never dropped to make room: that would let it be
 * used again. Time is monotonic, so insertion order is expiry order and each call does a bounded amount of work.
 */
export function createReplayStore(max: number, keep_ms: number): ReplayStore {
  // The order is kept in a queue beside the map: a walk of a Map from its start passes over a hole for each entry deleted there.
  const known = new Map<string, Used>();
  let oldest: Used | undefined;
  let newest: Used | undefined;
  const dropExpired = (now_ms: number): void => {
    for (let left = DROPS_PER_CALL; left > 0 && oldest !== undefined && oldest.expires_ms <= now_ms; left -= 1) {
      if (known.get(oldest.key) === oldest) known.delete(oldest.key);
      oldest = oldest.next;
    }
  };
  return {
    use: (key, now_ms) => {
      dropExpired(now_ms);
      const before = known.get(key);
      if (before !== undefined && before.expires_ms > now_ms) return 'used';
      if (before === undefined && known.size >= max) return 'full';
      const used: Used = { key, expires_ms: now_ms + keep_ms, next: undefined };
      known.set(key, used);
      if (oldest === undefined || newest === undefined) oldest = used;
      else newest.next = used;
      newest = used;
      return 'new';
    },
    get size() {
      return known.size;
    },
  };
}

const DROPS_PER_CALL = 16;
