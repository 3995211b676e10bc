import type { Clock } from '../contract/clock.js';
import type { Log, RefusalLog } from '../contract/log.js';
import { createRepeatLimit } from './repeat-limit.js';

const MAX_PATH = 200;

/**
 * One `request refused` line for each refusal, at warn, and at error for what is our own fault (500). A route, gate and code
 * together get 10 lines in 10 seconds; `left_out` then says how many are missing. The audit has them all.
 */
export function createRefusalLog(log: Log, clock: Clock): RefusalLog {
  const limit = createRepeatLimit({ clock });
  return (refused) => {
    const leftOut = limit.take(`${refused.code} ${refused.gate} ${refused.route}`);
    if (leftOut === undefined) return;
    const path = refused.path.length > MAX_PATH ? `${refused.path.slice(0, MAX_PATH)}…` : refused.path;
    const fields = { ...refused, path, ...(leftOut === 0 ? {} : { left_out: leftOut }) };
    if (refused.status === 500) log.error(fields, 'request refused');
    else log.warn(fields, 'request refused');
  };
}
