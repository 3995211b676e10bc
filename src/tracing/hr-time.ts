import type { HrTime } from '@opentelemetry/api';

/** Milliseconds since the epoch as seconds and nanoseconds: a plain number below the process's own age would be read as something else. */
export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** Nanoseconds since the epoch, as OTLP/JSON writes them. */
export function toNanos([seconds, nanos]: HrTime): string {
  return seconds === 0 ? String(nanos) : `${seconds}${String(nanos).padStart(9, '0')}`;
}
