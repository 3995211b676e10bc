import { LRUCache } from 'lru-cache';
import type { GateHost } from 'portcullis/gate';
import type { Options } from './options.js';

/** Budgets of many callers. */
export interface Limiter {
  /** Takes one request of a caller's budget. 0: taken; else the milliseconds, more than 0, until there is one again. */
  take(key: string): number;
  close?(): Promise<void>;
}

interface Budget {
  /** Monotonic: when the window began, or when the bucket was last looked at. */
  at_ms: number;
  /** Requests taken of the window, or that the bucket holds. */
  count: number;
}

/** A limiter with empty windows or full buckets. At `max_keys` the budget that was not asked for longest is forgotten. */
export function createLimiter(options: Options, host: GateHost): Limiter {
  const budgets = new LRUCache<string, Budget>({ max: options.max_keys });
  const take = options.algorithm === 'fixed_window' ? window : bucket;
  const full: Budget = { at_ms: 0, count: options.algorithm === 'fixed_window' ? 0 : options.limit };
  const withdraw = host.metrics.gauge('rate_keys', 'Callers whose budget is remembered.', ['gate'], () => [
    { value: budgets.size, labels: { gate: host.name } },
  ]);
  return {
    take(key) {
      const now_ms = host.clock.mono_ms();
      let budget = budgets.get(key);
      if (budget === undefined) {
        budget = { ...full, at_ms: now_ms };
        budgets.set(key, budget);
      }
      return take(budget, options, now_ms);
    },
    async close() {
      withdraw();
    },
  };
}

function window(budget: Budget, { limit, window_ms }: Options, now_ms: number): number {
  if (now_ms - budget.at_ms >= window_ms) {
    budget.at_ms = now_ms;
    budget.count = 0;
  }
  if (budget.count >= limit) return budget.at_ms + window_ms - now_ms;
  budget.count += 1;
  return 0;
}

function bucket(budget: Budget, { limit, window_ms }: Options, now_ms: number): number {
  budget.count = Math.min(limit, budget.count + ((now_ms - budget.at_ms) * limit) / window_ms);
  budget.at_ms = now_ms;
  // A bucket that is full but for a rounding error is full.
  if (budget.count < 1 - 1e-9) return ((1 - budget.count) * window_ms) / limit;
  budget.count = Math.max(0, budget.count - 1);
  return 0;
}
