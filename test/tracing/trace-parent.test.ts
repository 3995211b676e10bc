import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTraceParent, toTraceParent } from '../../src/tracing/request-spans.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const GOOD = `00-${TRACE}-${SPAN}-01`;

describe('traceparent and tracestate', () => {
  it('a well-formed parent is read, and ours is written in the same form', () => {
    const context = parseTraceParent(GOOD, 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
    assert.deepEqual([context?.traceId, context?.spanId, context?.traceFlags, context?.isRemote], [TRACE, SPAN, 1, true]);
    assert.equal(context?.traceState?.serialize(), 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
    assert.ok(context !== undefined);
    assert.equal(toTraceParent(context), GOOD);
    assert.equal(toTraceParent({ ...context, traceFlags: 0 }), GOOD.replace(/01$/, '00'));
  });

  it('flags beside sampled are not passed on; a later version is read by the rules of 00', () => {
    assert.equal(parseTraceParent(`00-${TRACE}-${SPAN}-ff`, undefined)?.traceFlags, 1);
    assert.equal(parseTraceParent(`00-${TRACE}-${SPAN}-02`, undefined)?.traceFlags, 0);
    assert.equal(parseTraceParent(`01-${TRACE}-${SPAN}-01`, undefined)?.traceId, TRACE);
    assert.equal(parseTraceParent(`cc-${TRACE}-${SPAN}-01-what-the-future-holds`, undefined)?.spanId, SPAN);
  });

  it('whatever else is no parent', () => {
    for (const bad of [
      undefined,
      '',
      ' ',
      GOOD.toUpperCase(),
      ` ${GOOD}`,
      `${GOOD} `,
      `${GOOD}\n`,
      `${GOOD}-more`,
      `${GOOD}, ${GOOD}`,
      `ff-${TRACE}-${SPAN}-01`,
      `01-${TRACE}-${SPAN}-01x`,
      `0-${TRACE}-${SPAN}-01`,
      `00-${'0'.repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE.slice(1)}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-0`,
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE.replace('a', 'g')}-${SPAN}-01`,
      `cc-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
    ])
      assert.equal(parseTraceParent(bad, undefined), undefined, JSON.stringify(bad));
  });

  it('a state that is too long, too many or malformed is left out, and the parent stays', () => {
    for (const bad of [
      '',
      ',',
      'a',
      'a=',
      'A=1',
      '=1',
      'a=b=c',
      'a=ü',
      'a=b\u0007',
      'a=1,;',
      Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(','),
      `a=${'x'.repeat(257)}`,
      `a=1,b=${'x'.repeat(250)},c=${'y'.repeat(250)},d=${'z'.repeat(20)}`,
    ]) {
      const context = parseTraceParent(GOOD, bad);
      assert.deepEqual([context?.traceId, context?.traceState], [TRACE, undefined], JSON.stringify(bad));
    }
    assert.equal(parseTraceParent('bad', 'a=1'), undefined);
  });
});
