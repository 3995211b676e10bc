import { createTraceState, type SpanContext } from '@opentelemetry/api';
import { trimOws } from '../wire/field.js';

/** Longest `tracestate` that is passed on; W3C Trace Context section 3.3.1.5 asks for at least this much. */
const MAX_STATE = 512;
const MAX_MEMBERS = 32;
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = /^0+$/;
const SAMPLED = 1;

/**
 * The span that a `traceparent` names (W3C Trace Context section 3.2); undefined when the text is not exactly one. A version above
 * 00 is read by the rules of 00. A `tracestate` that is too long, has too many members or is malformed is left out, the parent stays.
 */
export function parseTraceParent(parent: string | undefined, state: string | undefined): SpanContext | undefined {
  if (parent === undefined || parent.length < 55 || parent.length > 512) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = PARENT.exec(parent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (NO_TRACE.test(traceId) || NO_TRACE.test(spanId)) return undefined;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
  const kept = state === undefined ? undefined : stateOf(state);
  return kept === undefined ? context : { ...context, traceState: kept };
}

/** The `traceparent` of a span of ours. */
export function toTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & SAMPLED) === 0 ? '00' : '01'}`;
}

function stateOf(text: string): SpanContext['traceState'] {
  if (text.length > MAX_STATE) return undefined;
  const members = text
    .split(',')
    .map(trimOws)
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > MAX_MEMBERS || !members.every((member) => MEMBER.test(member))) return undefined;
  return createTraceState(text);
}

/** A key and a value of printable ASCII (W3C Trace Context section 3.3.1.3). */
const MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
