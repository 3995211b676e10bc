import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fail, ok, runChecks, warn } from '../../src/doctor/check.js';
import { makeClock } from '../../src/testing.js';

describe('checks', () => {
  it('run at once, and their findings keep the order of the checks', async () => {
    const clock = makeClock();
    let running = 0;
    let most = 0;
    const slow = (name: string, wait_ms: number) => ({
      name,
      async run() {
        most = Math.max(most, ++running);
        await sleep(wait_ms);
        running--;
        return [ok(name, 'done'), warn(name, 'but', 'do')];
      },
    });
    const findings = await runChecks([slow('a', 40), slow('b', 1)], clock, 1000);
    assert.deepEqual(
      findings.map(({ check, verdict }) => `${check} ${verdict}`),
      ['a ok', 'a warn', 'b ok', 'b warn'],
    );
    assert.equal(most, 2);
    assert.equal(clock.pending, 0);
  });

  it('that are late fail with their own name, and their signal aborts', async () => {
    const clock = makeClock();
    let signal: AbortSignal | undefined;
    const hanging = { name: 'slow', run: (given: AbortSignal) => new Promise<never>(() => void (signal = given)) };
    const running = runChecks([hanging, { name: 'quick', run: () => [ok('quick', 'x')] }], clock, 5000);
    clock.advance(5000);
    const [late, quick] = await running;
    assert.deepEqual([late?.check, late?.verdict, late?.message], ['slow', 'fail', 'no answer within 5000 ms']);
    assert.equal(quick?.verdict, 'ok');
    assert.equal(signal?.aborted, true);
  });

  it('that throw fail alone, and what they threw is not repeated', async () => {
    const broken = { name: 'broken', run: () => Promise.reject(Object.assign(new Error('the password is hunter2'), { code: 'EBAD' })) };
    const findings = await runChecks([broken, { name: 'next', run: () => [fail('next', 'm', 'r')] }], makeClock(), 5000);
    assert.equal(findings[0]?.message, 'this check failed itself (EBAD)');
    assert.equal(findings.length, 2);
    assert.doesNotMatch(JSON.stringify(findings), /hunter2/);
  });
});
