import { trimOws, weightOf } from '../wire/field.js';

const OPEN = 'application/openmetrics-text';
const TEXT = 'text/plain';

/** True when an Accept header prefers OpenMetrics to Prometheus text (RFC 9110 section 12.5.1). Absent or odd: text. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > 4_096) return false;
  let open = 0;
  let text = 0;
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => trimOws(part).toLowerCase());
    const q = weightOf(parameters);
    if (Number.isNaN(q)) continue;
    if (type === OPEN) open = Math.max(open, q);
    else if (type === TEXT) text = Math.max(text, q);
  }
  return open > 0 && open >= text;
}
