import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { makeClock } from '../../src/testing.js';
import type { Delivery } from '../../src/tracing/collector.js';
import { MAX_BATCH, MAX_QUEUED, SpanQueue } from '../../src/tracing/span-queue.js';

const SPAN = {} as ReadableSpan;
const DELIVERED: Delivery = { kind: 'delivered', rejected: 0 };
const LATER: Delivery = { kind: 'later', after_ms: 0, why: 'it is down' };

function queueOf(answer: (batch: number, signal: AbortSignal) => Delivery | Promise<Delivery>) {
  const clock = makeClock();
  const sent: number[] = [];
  const dropped: Record<string, number> = {};
  const failed: string[] = [];
  let exported = 0;
  const queue = new SpanQueue({
    clock,
    interval_ms: 1_000,
    send: async (spans, signal) => {
      sent.push(spans.length);
      return answer(spans.length, signal);
    },
    exported: (count) => (exported += count),
    dropped: (reason, count) => (dropped[reason] = (dropped[reason] ?? 0) + count),
    failed: (why) => failed.push(why),
  });
  const end = (count: number): void => {
    for (let i = 0; i < count; i++) queue.onEnd(SPAN);
  };
  return { clock, queue, end, sent, dropped, failed, exported: () => exported };
}

const hang = (signal: AbortSignal): Promise<Delivery> =>
  new Promise((done) => signal.addEventListener('abort', () => done({ kind: 'later', after_ms: 0, why: 'late' })));

describe('the queue of spans', () => {
  it('sends what waits after the interval, and a full batch at once', async () => {
    const { clock, end, sent, exported } = queueOf(() => DELIVERED);
    end(3);
    assert.deepEqual(sent, []);
    clock.advance(1_000);
    await setImmediate();
    assert.deepEqual(sent, [3]);
    end(MAX_BATCH * 2 + 5);
    await setImmediate();
    assert.deepEqual(sent, [3, MAX_BATCH, MAX_BATCH]);
    clock.advance(1_000);
    await setImmediate();
    assert.deepEqual([sent.at(-1), exported(), clock.pending], [5, MAX_BATCH * 2 + 8, 0]);
  });

  it('a collector that hangs holds one batch; the queue behind it is bounded and what does not fit is counted', async () => {
    const { queue, clock, end, sent, dropped } = queueOf((_, signal) => hang(signal));
    end(MAX_BATCH);
    await setImmediate();
    end(MAX_QUEUED + 100);
    assert.deepEqual([sent, dropped], [[MAX_BATCH], { queue_full: 100 }]);
    const closing = queue.close(2_000);
    clock.advance(2_000);
    await closing;
    await setImmediate();
    const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0);
    assert.equal(lost, MAX_BATCH + MAX_QUEUED + 100);
    assert.equal(clock.pending, 0);
  });

  it('a batch that failed is sent again later and later, then given up; the next one is tried', async () => {
    const { clock, end, sent, dropped, failed } = queueOf(() => LATER);
    end(2);
    for (let i = 0; i < 60; i++) {
      clock.advance(1_000);
      await setImmediate();
    }
    assert.deepEqual([sent, dropped, failed.length], [[2, 2, 2, 2], { collector: 2 }, 4]);
    end(1);
    clock.advance(1_000);
    await setImmediate();
    assert.deepEqual(sent, [2, 2, 2, 2, 1]);
  });

  it('spans that come while a batch waits for another try are sent after it', async () => {
    let up = false;
    const { clock, end, sent, exported } = queueOf(() => (up ? DELIVERED : LATER));
    end(2);
    clock.advance(1_000);
    await setImmediate();
    end(3);
    up = true;
    for (let i = 0; i < 5; i++) {
      clock.advance(1_000);
      await setImmediate();
    }
    assert.deepEqual([sent, exported()], [[2, 2, 3], 5]);
  });

  it('what a collector refuses or rejects is counted and not sent again', async () => {
    const answers: Delivery[] = [
      { kind: 'refused', why: 'the collector answered 400' },
      { kind: 'delivered', rejected: 1 },
    ];
    const { clock, end, dropped, exported } = queueOf(() => answers.shift() ?? DELIVERED);
    end(2);
    clock.advance(1_000);
    await setImmediate();
    end(3);
    clock.advance(1_000);
    await setImmediate();
    assert.deepEqual([dropped, exported()], [{ collector: 2, rejected: 1 }, 2]);
  });

  it('close sends all that waits, also what waits for another try', async () => {
    let up = false;
    const { queue, clock, end, sent, dropped, exported } = queueOf(() => (up ? DELIVERED : LATER));
    end(1);
    clock.advance(1_000);
    await setImmediate();
    up = true;
    end(MAX_BATCH + 10);
    await queue.close(2_000);
    assert.deepEqual([sent, dropped, exported(), clock.pending], [[1, 1, MAX_BATCH, 10], {}, MAX_BATCH + 11, 0]);
    end(1);
    assert.deepEqual(dropped, { queue_full: 1 });
  });
});
