import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeClock, makeHead } from '../../src/testing.js';
import { createTracing } from '../../src/tracing/open.js';
import { toHrTime, toNanos, toOtlp } from '../../src/tracing/otlp.js';
import { KeptSpans } from '../support/kept-spans.js';

describe('OTLP in JSON', () => {
  it('times are nanoseconds since the epoch as text, exact to the microsecond', () => {
    assert.equal(toNanos(toHrTime(1_767_225_600_000.5)), '1767225600000500000');
    assert.equal(toNanos(toHrTime(1)), '1000000');
    assert.equal(toNanos([1_767_225_600, 7]), '1767225600000000007');
  });

  it('a span is written with ids in hex, kinds from 1 and typed values', () => {
    const kept = new KeptSpans();
    const options = { service_name: 's', version: '1', resource: {}, sample_ratio: 1, parent: 'follow', principal: 'none' } as const;
    const tracing = createTracing({ ...options, clock: makeClock(), peerOf: () => ({ transport: 'tcp', port: 80 }) }, kept);
    const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1' };
    const trace = tracing.begin(makeHead({ headers, received_at_ms: 1_000 }), { path: '/mcp', runtime: 'r' }, 0);
    trace?.gateDecided('g', 'pass', '', 0.5);
    trace?.outgoing();
    const record = { request_id: 'i', route: '/mcp', method: 'ping', era: 'modern', revision: '2026-07-28', outcome: 'refused' } as const;
    trace?.ended({ ...record, seconds: 0.5, overhead_seconds: 0, tool: undefined, rpc_code: -32600 });
    const [resource] = JSON.parse(toOtlp(kept.spans)).resourceSpans;
    assert.deepEqual(resource.resource.attributes[0], { key: 'service.name', value: { stringValue: 's' } });
    const [{ scope, spans }] = resource.scopeSpans;
    assert.equal(scope.name, 'portcullis');
    const [client, server] = spans;
    assert.deepEqual([client.kind, server.kind, client.parentSpanId, server.parentSpanId], [3, 2, server.spanId, 'b7ad6b7169203331']);
    assert.deepEqual([server.traceState, server.flags, client.flags], ['a=1', 0x301, 0x101]);
    assert.deepEqual([server.startTimeUnixNano, server.endTimeUnixNano, server.status.code], ['1000000000', '1500000000', 2]);
    const attributeOf = (key: string) => client.attributes.find((each: { key: string }) => each.key === key)?.value;
    assert.deepEqual(attributeOf('server.port'), { intValue: '80' });
    assert.deepEqual(server.events[0].attributes.at(-1), { key: 'portcullis.seconds', value: { doubleValue: 0.5 } });
    assert.equal(toOtlp([]), '{"resourceSpans":[]}');
  });
});
