import type { Config } from '../config/schema/config.js';
import { type Check, fail, ok, warn } from './check.js';

export interface DrainTimes {
  /** `TERMINATION_GRACE_PERIOD_SECONDS` of the environment: what is left of it after a preStop. */
  readonly grace: string | undefined;
  /** Seconds of sleep before SIGTERM. */
  readonly pre_stop_s: number;
}

/** What Kubernetes gives a pod that says nothing. */
const KUBERNETES_S = 30;
const RESERVE_S = 5;

/** The time that the platform leaves for a drain: preStop + drain_delay + drain_timeout + 5 s, as the chart computes it. */
export function checkDrain({ listener }: Config, { grace, pre_stop_s }: DrainTimes): Check {
  const name = 'drain';
  const { drain_delay_ms, drain_timeout_ms } = listener.limits;
  const needed = pre_stop_s + Math.ceil((drain_delay_ms + drain_timeout_ms) / 1000) + RESERVE_S;
  const sum = `preStop ${pre_stop_s} s + drain_delay_ms ${drain_delay_ms} + drain_timeout_ms ${drain_timeout_ms} + ${RESERVE_S} s`;
  return {
    name,
    run() {
      if (grace === undefined || grace === '') {
        if (needed <= KUBERNETES_S) return [ok(name, `needs ${needed} s, and Kubernetes gives ${KUBERNETES_S} s (${sum})`)];
        return [
          warn(
            name,
            `needs ${needed} s, more than the ${KUBERNETES_S} s that Kubernetes gives by default (${sum})`,
            `Set terminationGracePeriodSeconds to at least ${needed}; the chart does.`,
          ),
        ];
      }
      if (!/^[0-9]{1,9}$/.test(grace)) return [fail(name, 'the grace period is not a whole number of seconds', 'Correct it.')];
      if (Number(grace) >= needed) return [ok(name, `needs ${needed} s and has ${grace} s (${sum})`)];
      return [
        fail(
          name,
          `needs ${needed} s and has ${grace} s: requests and streams still open then are killed (${sum})`,
          `Raise terminationGracePeriodSeconds to ${needed}, or lower listener.limits.drain_timeout_ms.`,
        ),
      ];
    },
  };
}

/** The keys that seal legacy session ids. */
export function checkSessions({ listener }: Config): Check {
  const name = 'sessions';
  const { keys } = listener.sessions;
  return {
    name,
    run() {
      if (keys.length === 0)
        return [ok(name, 'no keys: each process makes one, so a restart ends the sessions of legacy clients and replicas share none')];
      if (keys.some((key) => key.length < 32))
        return [warn(name, 'a key has fewer than 32 characters', 'Make one with: openssl rand -base64 32')];
      return [ok(name, keys.length === 1 ? 'one key' : 'two keys: the first seals, both open')];
    },
  };
}
