import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { samples, withPrometheus } from './page.js';

describe('metrics declared by parts and gates', () => {
  it('exports known names with our prefix and others as a gate’s', () =>
    withPrometheus(async (prometheus) => {
      const { metrics } = prometheus;
      metrics.counter('jwks_fetches_total', '', ['issuer', 'outcome']).add({ issuer: 'corp', outcome: 'ok' });
      metrics.counter('quota_hits_total', 'Hits.', ['tier']).add({ tier: 'gold' }, 3);
      metrics.histogram('quota_wait_seconds', 'Waits.', [], [0.1, 1]).observe(0.5);
      assert.deepEqual(await samples(prometheus, 'portcullis_jwks_fetches_total'), [
        'portcullis_jwks_fetches_total{issuer="corp",outcome="ok"} 1',
      ]);
      assert.deepEqual(await samples(prometheus, 'portcullis_gate_quota_hits_total'), ['portcullis_gate_quota_hits_total{tier="gold"} 3']);
      assert.deepEqual(await samples(prometheus, 'portcullis_gate_quota_wait_seconds_bucket'), [
        'portcullis_gate_quota_wait_seconds_bucket{le="0.1"} 0',
        'portcullis_gate_quota_wait_seconds_bucket{le="1"} 1',
        'portcullis_gate_quota_wait_seconds_bucket{le="+Inf"} 1',
      ]);
    }));

  it('returns the same metric for the same name', () =>
    withPrometheus(async (prometheus) => {
      prometheus.metrics.counter('hits_total', 'Hits.').add();
      prometheus.metrics.counter('hits_total', 'Hits.').add();
      assert.deepEqual(await samples(prometheus, 'portcullis_gate_hits_total'), ['portcullis_gate_hits_total 2']);
    }));

  it('shows a counter without labels as 0 before its first event', () =>
    withPrometheus(async (prometheus) => {
      prometheus.metrics.counter('audit_dropped_total', '');
      assert.deepEqual(await samples(prometheus, 'portcullis_audit_dropped_total'), ['portcullis_audit_dropped_total 0']);
    }));

  it('folds label sets beyond 2 000 into other', () =>
    withPrometheus(async (prometheus) => {
      const counter = prometheus.metrics.counter('hits_total', 'Hits.', ['who', 'what']);
      for (let i = 0; i < 2_500; i += 1) counter.add({ who: `u${i}`, what: 'x' });
      const lines = await samples(prometheus, 'portcullis_gate_hits_total');
      assert.equal(lines.length, 2_001);
      assert.equal(lines.at(-1), 'portcullis_gate_hits_total{who="other",what="other"} 500');
    }));

  it('never lets a count down or to nonsense', () =>
    withPrometheus(async (prometheus) => {
      const counter = prometheus.metrics.counter('hits_total', 'Hits.');
      for (const count of [1, -5, Number.NaN, Number.POSITIVE_INFINITY, 0]) counter.add(undefined, count);
      assert.deepEqual(await samples(prometheus, 'portcullis_gate_hits_total'), ['portcullis_gate_hits_total 1']);
    }));

  it('reads gauges at the scrape, joins collectors and takes one back', () =>
    withPrometheus(async (prometheus) => {
      let open = 1;
      const collect = () => [{ value: open, labels: { state: 'head' } }];
      prometheus.metrics.gauge('connections', '', ['state'], collect);
      const takeBack = prometheus.metrics.gauge('connections', '', ['state'], () => [
        { value: 10, labels: { state: 'head' } },
        { value: 2, labels: { state: 'idle' } },
        { value: Number.NaN, labels: { state: 'body' } },
      ]);
      open = 5;
      assert.deepEqual(await samples(prometheus, 'portcullis_connections'), [
        'portcullis_connections{state="head"} 15',
        'portcullis_connections{state="idle"} 2',
      ]);
      takeBack();
      takeBack();
      assert.deepEqual(await samples(prometheus, 'portcullis_connections'), ['portcullis_connections{state="head"} 5']);
    }));

  it('survives a collector that throws and says so', () =>
    withPrometheus(async (prometheus) => {
      prometheus.metrics.gauge('jwks_keys', '', ['issuer'], () => {
        throw new Error('gone');
      });
      prometheus.metrics.gauge('jwks_keys', '', ['issuer'], () => [{ value: 3, labels: { issuer: 'corp' } }]);
      assert.deepEqual(await samples(prometheus, 'portcullis_jwks_keys'), ['portcullis_jwks_keys{issuer="corp"} 3']);
      assert.deepEqual(await samples(prometheus, 'portcullis_collect_failures_total'), [
        'portcullis_collect_failures_total{metric="portcullis_jwks_keys"} 1',
      ]);
    }));

  it('refuses a declaration that Prometheus would refuse or that means something else', () =>
    withPrometheus(async ({ metrics }) => {
      const bad: readonly [() => unknown, RegExp][] = [
        [() => metrics.counter('Hits_total', 'x'), /^metric Hits_total: a name is 1 to 80/],
        [() => metrics.counter('hits', 'x'), /only they, end in _total/],
        [() => metrics.gauge('hits_total', 'x', [], () => []), /only they, end in _total/],
        [() => metrics.histogram('size_count', 'x'), /cannot end in _bucket/],
        [() => metrics.counter('hits_total', ' '), /needs a help text/],
        [() => metrics.counter('hits_total', 'x', ['le']), /le cannot be the name of a label/],
        [() => metrics.counter('hits_total', 'x', ['a', 'a']), /named twice/],
        [() => metrics.histogram('wait_seconds', 'x', [], [1, 1]), /finite and rise/],
        [() => metrics.histogram('wait_seconds', 'x', [], []), /1 to 40 buckets/],
        [() => metrics.counter('requests_total', 'x', ['route']), /its labels are route, mcp_method, era, outcome, not route/],
        [() => metrics.histogram('requests_total', 'x'), /it is a counter, not a histogram/],
        [() => metrics.gauge('requests_total', 'x', ['route'], () => []), /it is a counter, not a gauge/],
      ];
      for (const [declare, expected] of bad) assert.throws(declare, (error: Error) => expected.test(error.message));
    }));

  it('bounds how many metrics gates declare', () =>
    withPrometheus(async ({ metrics }) => {
      for (let i = 0; i < 200; i += 1) metrics.counter(`m${i}_total`, 'x');
      assert.throws(() => metrics.counter('more_total', 'x'), /gates have declared 200 metrics already/);
      metrics.counter('m7_total', 'x').add();
    }));
});

describe('the page', () => {
  it('is text by default and OpenMetrics when preferred, one after the other', () =>
    withPrometheus(async (prometheus) => {
      prometheus.metrics.counter('hits_total', 'Hits.').add();
      const scraper =
        'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;q=0.5,*/*;q=0.1';
      const open = await prometheus.render(scraper);
      assert.equal(open.content_type, 'application/openmetrics-text; version=1.0.0; charset=utf-8');
      assert.match(open.body, /# TYPE portcullis_gate_hits counter\nportcullis_gate_hits_total 1\n/);
      assert.match(open.body, /\n# EOF\n$/);
      const text = await prometheus.render('text/plain');
      assert.equal(text.content_type, 'text/plain; version=0.0.4; charset=utf-8');
      assert.match(text.body, /# TYPE portcullis_gate_hits_total counter\nportcullis_gate_hits_total 1\n/);
      assert.match(text.body, /^portcullis_build_info\{version="1.2.3",node="unknown"\} 1$/m);
    }));

  it('escapes what label values may hold', () =>
    withPrometheus(async (prometheus) => {
      prometheus.metrics.counter('hits_total', 'Hits.', ['who']).add({ who: 'a"b\\c' });
      prometheus.metrics.counter('hits_total', 'Hits.', ['who']).add({ who: 'a\nportcullis_up 1' });
      assert.deepEqual(await samples(prometheus, 'portcullis_gate_hits_total'), [
        'portcullis_gate_hits_total{who="a\\"b\\\\c"} 1',
        'portcullis_gate_hits_total{who="other"} 1',
      ]);
    }));

  it('has the event loop’s delay and busy time', () =>
    withPrometheus(async (prometheus) => {
      const delays = await samples(prometheus, 'nodejs_eventloop_delay_seconds');
      assert.deepEqual(
        delays.map((line) => line.split(' ')[0]),
        ['50', '99', '100'].map((percentile) => `nodejs_eventloop_delay_seconds{percentile="${percentile}"}`),
      );
      for (const line of delays) assert.ok(Number(line.split(' ')[1]) >= 0 && Number(line.split(' ')[1]) < 60, line);
      const [busy] = await samples(prometheus, 'nodejs_eventloop_busy_seconds_total');
      assert.ok(Number(busy?.split(' ')[1]) > 0, busy);
    }));
});
