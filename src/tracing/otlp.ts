import type { Attributes, AttributeValue, HrTime, Link } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** The body of one OTLP/HTTP export in JSON (OTLP 1.x, "JSON Protobuf Encoding"). All spans share one resource and one scope. */
export function toOtlp(spans: readonly ReadableSpan[]): string {
  const [first] = spans;
  if (first === undefined) return '{"resourceSpans":[]}';
  const { name, version } = first.instrumentationScope;
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toAttributes(first.resource.attributes) },
        scopeSpans: [{ scope: { name, version }, spans: spans.map(toSpan) }],
      },
    ],
  });
}

/** Bits 8 and 9 of `flags`: it is known whether the parent is remote, and it is. */
const REMOTE_KNOWN = 0x100;
const REMOTE = 0x200;

function toSpan(span: ReadableSpan): object {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const parent = span.parentSpanContext;
  return {
    traceId,
    spanId,
    ...(traceState === undefined ? {} : { traceState: traceState.serialize() }),
    ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
    flags: traceFlags | REMOTE_KNOWN | (parent?.isRemote === true ? REMOTE : 0),
    name: span.name,
    // OTLP counts kinds from 1.
    kind: span.kind + 1,
    startTimeUnixNano: toNanos(span.startTime),
    endTimeUnixNano: toNanos(span.endTime),
    attributes: toAttributes(span.attributes),
    droppedAttributesCount: span.droppedAttributesCount,
    events: span.events.map(({ time, name, attributes }) => ({
      timeUnixNano: toNanos(time),
      name,
      attributes: toAttributes(attributes ?? {}),
    })),
    links: span.links.map(toLink),
    status: span.status,
  };
}

function toLink({ context, attributes }: Link): object {
  const { traceId, spanId, traceState, traceFlags } = context;
  const state = traceState === undefined ? {} : { traceState: traceState.serialize() };
  return { traceId, spanId, ...state, attributes: toAttributes(attributes ?? {}), flags: traceFlags | REMOTE_KNOWN | REMOTE };
}

function toAttributes(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toValue(value) }]));
}

function toValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.flatMap((each) => (each === null || each === undefined ? [] : [toValue(each)])) } };
}

/** Milliseconds since the epoch as seconds and nanoseconds: a plain number below the process's own age would be read as something else. */
export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** Nanoseconds since the epoch, as OTLP/JSON writes them. */
export function toNanos([seconds, nanos]: HrTime): string {
  return seconds === 0 ? String(nanos) : `${seconds}${String(nanos).padStart(9, '0')}`;
}
