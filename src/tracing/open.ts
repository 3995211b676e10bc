import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  ParentBasedSampler,
  type ReadableSpan,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Clock } from '../contract/clock.js';
import type { Tracing } from '../contract/tracing.js';
import type { NetworkPeer } from './attributes.js';
import { type CollectorOptions, createCollector } from './collector.js';
import { toOtlp } from './otlp.js';
import { RequestSpans } from './request-spans.js';
import { SpanNames } from './span-names.js';
import { type DropReason, SpanQueue } from './span-queue.js';

/** What spans say of the process, and which requests get one. */
export interface TracerOptions {
  readonly service_name: string;
  readonly version: string;
  /** More resource attributes; they win over the gateway's own. */
  readonly resource: Readonly<Record<string, string>>;
  /** Share of the requests whose trace begins here, 0 to 1. */
  readonly sample_ratio: number;
  readonly parent: 'follow' | 'link';
  readonly principal: 'none' | 'sha256';
  readonly clock: Clock;
  readonly peerOf: (runtime: string) => NetworkPeer | undefined;
}

export interface TracingOptions extends TracerOptions, Omit<CollectorOptions, 'clock'> {
  readonly interval_ms: number;
  readonly exported: (count: number) => void;
  readonly dropped: (reason: DropReason, count: number) => void;
  readonly failed: (why: string) => void;
}

export interface ClosableTracing extends Tracing {
  /** Sends what waits, at the latest until `deadline_ms`; the rest is counted as dropped. */
  close(deadline_ms: number): Promise<void>;
}

/** Opens tracing toward one collector. This file is loaded only when tracing is on: the SDK comes with it. */
export function openTracing(options: TracingOptions): ClosableTracing {
  const { clock, interval_ms, exported, dropped, failed } = options;
  const collector = createCollector(options);
  const send = (spans: readonly ReadableSpan[], signal: AbortSignal) => collector.send(toOtlp(spans), signal);
  const queue = new SpanQueue({ clock, interval_ms, send, exported, dropped, failed });
  return {
    ...createTracing(options, queue),
    async close(deadline_ms) {
      await queue.close(deadline_ms);
      await collector.close();
    },
  };
}

/** Traces into any processor. Every option that the SDK could take from the environment is given here. */
export function createTracing(options: TracerOptions, processor: SpanProcessor): Tracing {
  const { clock, parent, peerOf, version } = options;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.service_name,
      'service.version': version,
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.name': 'opentelemetry',
      ...options.resource,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sample_ratio) }),
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 64, eventCountLimit: 64, linkCountLimit: 4 },
    spanProcessors: [processor],
  });
  const env = {
    tracer: provider.getTracer('portcullis', version),
    clock,
    names: new SpanNames(),
    parent,
    principal: options.principal === 'sha256',
    peerOf,
  };
  return { begin: (head, route, started_ms) => new RequestSpans(env, head, route, started_ms) };
}
