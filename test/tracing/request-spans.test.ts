import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Call } from '../../src/contract/runtime.js';
import type { RequestRecord } from '../../src/contract/telemetry.js';
import type { RequestTrace } from '../../src/contract/tracing.js';
import { type HeadInit, makeClock, makeHead } from '../../src/testing.js';
import { createTracing, type TracerOptions } from '../../src/tracing/open.js';
import { KeptSpans } from '../support/kept-spans.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;
const OTHER = '00-11111111111111111111111111111111-2222222222222222-01';
const CALLER = { issuer: 'https://id.example.com', principal: 'alice', scopes: new Set<string>(), facts: {} };

const record = (init: Partial<RequestRecord> = {}): RequestRecord => ({
  request_id: 'r-1',
  route: '/mcp',
  method: 'tools/call',
  era: 'modern',
  revision: '2026-07-28',
  outcome: 'ok',
  seconds: 0.25,
  overhead_seconds: 0.01,
  tool: 'echo',
  rpc_code: undefined,
  ...init,
});

function traced(options: Partial<TracerOptions> = {}) {
  const clock = makeClock();
  const kept = new KeptSpans();
  const tracing = createTracing(
    {
      service_name: 'gate',
      version: '1.2.3',
      resource: { 'deployment.environment.name': 'test' },
      sample_ratio: 1,
      parent: 'follow',
      principal: 'none',
      clock,
      peerOf: (name) => (name === 'files' ? { transport: 'tcp', address: 'files.internal', port: 3001 } : undefined),
      ...options,
    },
    kept,
  );
  const begin = (headers: HeadInit['headers'] = {}, runtime = 'files') => {
    const head = makeHead({ headers, received_at_ms: clock.now_ms() });
    const trace = tracing.begin(head, { path: '/mcp', runtime }, clock.mono_ms()) as RequestTrace;
    const call = (init: Partial<Call> = {}): Call => ({
      era: 'modern',
      revision: '2026-07-28',
      method: 'tools/call',
      name: 'echo',
      kind: 'request',
      id: '"7"',
      progress_token: undefined,
      body: Buffer.from('{"arguments":"SECRET-ARGUMENT"}'),
      head,
      identity: CALLER,
      facts: {},
      route: { path: '/mcp', url: '', runtime },
      ...init,
    });
    return { trace, call };
  };
  return { clock, begin, spans: kept.spans };
}

const byKind = (spans: readonly ReadableSpan[], kind: SpanKind): ReadableSpan => {
  const [span, more] = spans.filter((each) => each.kind === kind);
  assert.ok(span !== undefined && more === undefined);
  return span;
};

describe('the spans of a request', () => {
  it('a call has a SERVER span and a CLIENT span below it, named and described by the MCP conventions', () => {
    const { clock, begin, spans } = traced();
    const { trace, call } = begin({ traceparent: PARENT, tracestate: 'a=1' });
    trace.gateDecided('token', 'identify', '', 0.002);
    clock.advance(10);
    trace.called(call(), undefined, undefined);
    const out = trace.outgoing();
    trace.upstreamStarted();
    clock.advance(200);
    trace.upstreamResponded();
    trace.answered();
    clock.advance(40);
    trace.ended(record());
    const server = byKind(spans, SpanKind.SERVER);
    const client = byKind(spans, SpanKind.CLIENT);
    assert.deepEqual([server.name, client.name], ['tools/call echo', 'tools/call echo']);
    assert.deepEqual([server.spanContext().traceId, server.parentSpanContext?.spanId], [TRACE, SPAN]);
    assert.equal(client.parentSpanContext?.spanId, server.spanContext().spanId);
    assert.deepEqual(out, { traceparent: `00-${TRACE}-${client.spanContext().spanId}-01`, tracestate: 'a=1' });
    assert.deepEqual(server.attributes, {
      'portcullis.request_id': 'r-1',
      'portcullis.route': '/mcp',
      'portcullis.outcome': 'ok',
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2026-07-28',
      'jsonrpc.request.id': '7',
      'gen_ai.tool.name': 'echo',
      'gen_ai.operation.name': 'execute_tool',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'network.protocol.version': '1.1',
    });
    assert.equal(client.attributes['server.address'], 'files.internal');
    assert.equal(client.attributes['server.port'], 3001);
    assert.equal(client.attributes['portcullis.runtime'], 'files');
    assert.deepEqual(
      [server.duration, client.duration],
      [
        [0, 250_000_000],
        [0, 200_000_000],
      ],
    );
    assert.deepEqual(
      server.events.map(({ name, attributes }) => [name, attributes]),
      [['gate', { 'portcullis.gate': 'token', 'portcullis.verdict': 'identify', 'portcullis.seconds': 0.002 }]],
    );
    assert.deepEqual(
      client.events.map(({ name }) => name),
      ['handed back'],
    );
    assert.equal(server.status.code, SpanStatusCode.UNSET);
    assert.equal(server.resource.attributes['service.name'], 'gate');
    assert.equal(server.resource.attributes['deployment.environment.name'], 'test');
  });

  it('the parent in _meta wins over the header, which is linked; a malformed one counts as none', () => {
    const { begin, spans } = traced();
    const both = begin({ traceparent: PARENT });
    both.trace.called(both.call(), OTHER, 'b=2');
    both.trace.ended(record());
    const bad = begin({ traceparent: PARENT });
    bad.trace.called(bad.call(), 'nonsense', undefined);
    bad.trace.ended(record());
    const twice = begin({ traceparent: [PARENT, PARENT] });
    twice.trace.called(twice.call(), undefined, undefined);
    twice.trace.ended(record());
    assert.deepEqual(
      spans.map((span) => [span.parentSpanContext?.spanId, span.links.map(({ context }) => context.spanId)]),
      [
        ['2222222222222222', [SPAN]],
        [SPAN, []],
        [undefined, []],
      ],
    );
  });

  it('parent: link begins a trace of ours, whatever the caller has decided, and points to the caller’s', () => {
    const { begin, spans } = traced({ parent: 'link' });
    const { trace, call } = begin({ traceparent: PARENT.replace(/01$/, '00') });
    assert.equal(trace.trace_id, undefined);
    trace.called(call(), undefined, undefined);
    trace.ended(record());
    const [server] = spans;
    assert.notEqual(server?.spanContext().traceId, TRACE);
    assert.deepEqual([server?.parentSpanContext, server?.links[0]?.context.spanId], [undefined, SPAN]);
  });

  it('a trace that its caller does not sample is passed on and not recorded', () => {
    const { begin, spans } = traced();
    const { trace, call } = begin({ traceparent: PARENT.replace(/01$/, '00') });
    trace.called(call(), undefined, undefined);
    assert.match(trace.outgoing().traceparent, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    trace.ended(record());
    assert.deepEqual([spans.length, trace.exemplar, trace.trace_id], [0, undefined, TRACE]);
  });

  it('sample_ratio 0 records nothing that begins here, and follows a caller that samples', () => {
    const { begin, spans } = traced({ sample_ratio: 0 });
    const own = begin();
    own.trace.ended(record());
    const followed = begin({ traceparent: PARENT });
    followed.trace.ended(record());
    assert.deepEqual(
      spans.map((span) => span.spanContext().traceId),
      [TRACE],
    );
    assert.equal(followed.trace.exemplar?.trace_id, TRACE);
  });

  it('a refusal by a gate says which and why; one without a parent has a trace of its own', () => {
    const { begin, spans } = traced();
    const { trace } = begin();
    trace.gateDecided('token', 'refuse', 'TOKEN_EXPIRED', 0.001);
    trace.refused('TOKEN_EXPIRED', 'token');
    trace.ended(record({ method: '', outcome: 'refused', tool: undefined }));
    const [server] = spans;
    assert.equal(server?.name, 'POST /mcp');
    assert.deepEqual(server?.status, { code: SpanStatusCode.ERROR, message: 'TOKEN_EXPIRED' });
    const { 'error.type': type, 'portcullis.gate': gate, 'http.request.method': method } = server?.attributes ?? {};
    assert.deepEqual([type, gate, method], ['TOKEN_EXPIRED', 'token', 'POST']);
    assert.match(trace.trace_id ?? '', /^[0-9a-f]{32}$/);
  });

  it('error.type is tool_error, the JSON-RPC code, the refusal or the outcome', () => {
    const { begin, spans } = traced();
    const cases: readonly (readonly [Partial<RequestRecord>, string, string | undefined])[] = [
      [{ outcome: 'tool_error' }, 'tool_error', undefined],
      [{ outcome: 'rpc_error', rpc_code: -32602 }, '-32602', '-32602'],
      [{ outcome: 'cancelled' }, 'cancelled', undefined],
      [{ outcome: 'upstream_error', rpc_code: -32603 }, '-32603', '-32603'],
    ];
    for (const [init, type, code] of cases) {
      const { trace } = begin();
      trace.ended(record(init));
      const { attributes } = spans.at(-1) as ReadableSpan;
      assert.deepEqual([attributes['error.type'], attributes['rpc.response.status_code']], [type, code]);
    }
  });

  it('no argument, token, session id, query or caller is in any span; a pseudonym is when it is asked for', () => {
    const { begin, spans } = traced();
    const session = begin({ authorization: 'Bearer SECRET-TOKEN', 'mcp-session-id': 'SECRET-SESSION' });
    session.trace.called(session.call({ era: 'legacy' }), undefined, undefined);
    session.trace.outgoing();
    session.trace.ended(record({ era: 'legacy' }));
    const read = begin();
    read.trace.called(read.call({ method: 'resources/read', name: 'https://u:SECRET@host/a?key=SECRET#SECRET' }), undefined, undefined);
    read.trace.ended(record({ method: 'resources/read', tool: undefined }));
    const text = JSON.stringify(spans.map(({ name, attributes, events, links, status }) => [name, attributes, events, links, status]));
    assert.doesNotMatch(text, /SECRET|alice/);
    assert.match(String(spans[0]?.attributes['mcp.session.id']), /^sha256:[0-9a-f]{32}$/);
    assert.equal(spans[2]?.attributes['mcp.resource.uri'], 'https://host/a');
    const named = traced({ principal: 'sha256' });
    const { trace, call } = named.begin();
    trace.called(call(), undefined, undefined);
    trace.ended(record());
    assert.match(String(named.spans[0]?.attributes['enduser.pseudo.id']), /^sha256:[0-9a-f]{64}$/);
  });

  it('what a stranger makes up names no span, and every attribute is bounded', () => {
    const { begin, spans } = traced();
    const long = 'x'.repeat(100_000);
    for (const init of [
      { method: long },
      { method: 'made/up' },
      { tool: 'unknown', outcome: 'rpc_error' as const, rpc_code: -32602 },
      { tool: 'a b' },
      { tool: long },
    ]) {
      const { trace, call } = begin();
      trace.called(call({ name: init.tool ?? 'echo', id: `"${long}"` }), undefined, undefined);
      trace.ended(record(init));
    }
    assert.deepEqual(
      spans.map(({ name }) => name),
      ['other', 'other', 'tools/call', 'tools/call', 'tools/call'],
    );
    for (const { attributes } of spans) for (const value of Object.values(attributes)) assert.ok(String(value).length <= 256);
    const many = traced();
    for (let i = 0; i < 1_100; i++) {
      const { trace, call } = many.begin();
      trace.called(call({ name: `t${i}` }), undefined, undefined);
      trace.ended(record({ tool: `t${i}` }));
    }
    assert.equal(new Set(many.spans.map(({ name }) => name)).size, 1_001);
  });

  it('a stream’s end is an event with its reason; a hosted server has no span of its own', () => {
    const { clock, begin, spans } = traced();
    const { trace, call } = begin({}, 'clock');
    trace.called(call({ method: 'subscriptions/listen', name: undefined }), undefined, undefined);
    trace.upstreamStarted();
    clock.advance(3_600_000);
    trace.streamEnded('drain');
    trace.streamEnded('client');
    trace.ended(record({ method: 'subscriptions/listen', tool: undefined, seconds: 3_600 }));
    assert.deepEqual(
      spans.map(({ kind, name, duration }) => [kind, name, duration]),
      [[SpanKind.SERVER, 'subscriptions/listen', [3_600, 0]]],
    );
    assert.deepEqual(
      spans[0]?.events.map(({ name, attributes }) => [name, attributes]),
      [['stream ended', { 'portcullis.reason': 'drain' }]],
    );
  });
});
