import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Keeps every span that has ended, in memory. */
export class KeptSpans implements SpanProcessor {
  readonly spans: ReadableSpan[] = [];

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    this.spans.push(span);
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}
