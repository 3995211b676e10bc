import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallDeadline } from '../../../src/core/run/call-deadline.js';
import { makeClock } from '../../../src/testing/clock.js';

const TIMES = { request_timeout_ms: 100, request_timeout_max_ms: 250 };

function watched(times = TIMES) {
  const clock = makeClock();
  const deadline = new CallDeadline(clock, times);
  let late = 0;
  deadline.watch(() => late++);
  return { clock, deadline, late: () => late };
}

describe('call deadline', () => {
  it('runs once when the time is over', () => {
    const { clock, late } = watched();
    clock.advance(99);
    assert.equal(late(), 0);
    clock.advance(1);
    assert.equal(late(), 1);
    clock.advance(1000);
    assert.deepEqual([late(), clock.pending], [1, 0]);
  });

  it('starts again from each progress, up to the cap', () => {
    const { clock, deadline, late } = watched();
    for (let i = 0; i < 4; i++) {
      clock.advance(60);
      deadline.progressed();
    }
    assert.equal(late(), 0);
    clock.advance(9);
    assert.equal(late(), 0);
    clock.advance(1);
    assert.equal(late(), 1);
  });

  it('is the cap once the client was asked, which later progress does not shorten', () => {
    const { clock, deadline, late } = watched();
    deadline.inputRequested();
    deadline.progressed();
    clock.advance(249);
    assert.equal(late(), 0);
    clock.advance(1);
    assert.equal(late(), 1);
  });

  it('has no cap below the timeout', () => {
    const { clock, deadline, late } = watched({ request_timeout_ms: 100, request_timeout_max_ms: 10 });
    deadline.progressed();
    clock.advance(99);
    assert.equal(late(), 0);
  });

  it('stops the work with what was set last, once', () => {
    const { deadline } = watched();
    const ran: string[] = [];
    deadline.onCancel(() => ran.push('first'));
    deadline.onCancel((reason) => ran.push(reason));
    deadline.stop('drain');
    deadline.stop('client');
    assert.deepEqual(ran, ['drain']);
  });

  it('runs nothing after the end, which stops the work when it has a reason', () => {
    const { clock, deadline, late } = watched();
    const ran: string[] = [];
    deadline.onCancel((reason) => ran.push(reason));
    deadline.end();
    deadline.stop('client');
    assert.deepEqual([ran, clock.pending, late()], [[], 0, 0]);
    deadline.onCancel((reason) => ran.push(reason));
    deadline.end('client');
    assert.deepEqual(ran, ['client']);
  });

  it('says in its error what the call waited for', () => {
    const { deadline } = watched();
    const plain = deadline.error.message;
    deadline.waitsFor('It starts.');
    assert.equal(deadline.error.message, `${plain} It starts.`);
  });
});
