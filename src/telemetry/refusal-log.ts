import type { Clock } from '../contract/clock.js';
import type { Log, RefusalLog } from '../contract/log.js';
import { createRepeatLimit } from './repeat-limit.js';

const MAX_CHARS = 200;

/**
 * One `request refused` line for each refusal, at warn, and at error for what is our own fault (500). A route, gate and code
 * together get 10 lines in 10 seconds; `left_out` then says how many are missing. The audit has them all.
 */
export function createRefusalLog(log: Log, clock: Clock): RefusalLog {
  const limit = createRepeatLimit({ clock });
  return (refused) => {
    const leftOut = limit.take(`${refused.code} ${refused.gate} ${refused.route}`);
    if (leftOut === undefined) return;
    const detail = refused.detail === undefined ? {} : { detail: cut(refused.detail) };
    const fields = { ...refused, path: cut(refused.path), ...detail, ...(leftOut === 0 ? {} : { left_out: leftOut }) };
    if (refused.status === 500) log.error(fields, 'request refused');
    else log.warn(fields, 'request refused');
  };
}

function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}
