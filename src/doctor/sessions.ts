import type { Config } from '../config/schema/config.js';
import { type Check, ok, warn } from './check.js';

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
