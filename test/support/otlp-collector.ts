import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { until } from './e2e/until.js';
import { type SeenRequest, startUpstream } from './upstream.js';

/** One span as it came over OTLP/HTTP in JSON, its attributes as plain values. */
export interface SeenSpan {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_id: string | undefined;
  readonly state: string | undefined;
  readonly name: string;
  /** As OTLP counts: 2 is SERVER, 3 is CLIENT. */
  readonly kind: number;
  readonly start_ns: bigint;
  readonly end_ns: bigint;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly links: readonly string[];
  /** 2 is an error. */
  readonly status: number;
  readonly resource: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;
type Json = ReturnType<typeof JSON.parse>;

export interface OtlpCollector {
  /** What `telemetry.tracing.endpoint` names. */
  readonly endpoint: string;
  readonly spans: readonly SeenSpan[];
  /** Header fields of each export. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** The texts of all exports. */
  readonly text: string;
  /** Resolves with the spans once `count` match. */
  saw(count: number, match: (span: SeenSpan) => boolean): Promise<readonly SeenSpan[]>;
  close(): Promise<void>;
}

/** A real OTLP/HTTP collector on loopback. `answer` may answer in its place: it returns true when it did, or means not to. */
export async function startCollector(answer: (response: ServerResponse) => boolean = () => false): Promise<OtlpCollector> {
  const spans: SeenSpan[] = [];
  const upstream = await startUpstream((request: SeenRequest, response) => {
    if (answer(response)) return;
    if (request.method !== 'POST' || request.url !== '/v1/traces') return void response.writeHead(404).end();
    const message: Json = JSON.parse(request.body.toString());
    for (const { resource, scopeSpans } of message.resourceSpans)
      for (const scope of scopeSpans) for (const span of scope.spans) spans.push(toSpan(span, valuesOf(resource.attributes)));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
  });
  return {
    endpoint: `${upstream.url}/v1/traces`,
    spans,
    get headers() {
      return upstream.seen.map(({ headers }) => headers);
    },
    get text() {
      return upstream.seen.map(({ body }) => body.toString()).join('\n');
    },
    async saw(count, match) {
      await until(`${count} spans`, () => spans.filter(match).length >= count, 20_000);
      return spans.filter(match);
    },
    close: () => upstream.close(),
  };
}

function toSpan(span: Json, resource: Attributes): SeenSpan {
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_id: span.parentSpanId,
    state: span.traceState,
    name: span.name,
    kind: span.kind,
    start_ns: BigInt(span.startTimeUnixNano),
    end_ns: BigInt(span.endTimeUnixNano),
    attributes: valuesOf(span.attributes),
    events: span.events.map((event: Json) => ({ name: event.name, attributes: valuesOf(event.attributes) })),
    links: span.links.map((link: Json) => link.spanId),
    status: span.status.code,
    resource,
  };
}

function valuesOf(attributes: Json): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value }: Json) => [key, 'intValue' in value ? Number(value.intValue) : Object.values(value)[0]]),
  );
}
