import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../support/e2e/until.js';
import { answer, rawUpstream } from '../support/raw-upstream.js';

const KEEP = 'Keep-Alive: timeout=3000\r\n';

describe('upstream: the age of a connection', () => {
  const busy = async (step_ms: number, setup: { readonly connection_max_age_ms?: number }) => {
    const up = await rawUpstream((socket) => socket.write(answer('x', KEEP)), setup);
    const ages: number[] = [];
    let began_ms = 0;
    for (let n = 0; n < 60; n++) {
      const before = up.accepted.length;
      assert.equal(await up.ask('{}').done, '200 x');
      if (up.accepted.length > before) {
        if (before > 0) ages.push(up.clock.mono_ms() - began_ms);
        began_ms = up.clock.mono_ms();
      }
      await until('it may be used again, or is closed', () => up.pool.stats.free === 1 || up.open.size === 0);
      up.clock.advance(step_ms);
    }
    await up.close();
    return ages;
  };

  it('a connection in constant use is replaced between 0.8 and 1.2 of its age, not all at one', async () => {
    const ages = await busy(10_000, { connection_max_age_ms: 100_000 });
    assert.ok(ages.length >= 4, `${ages}`);
    for (const age of ages) assert.ok(age >= 80_000 && age <= 130_000, `${age}`);
  });

  it('by default after five minutes', async () => {
    const ages = await busy(30_000, {});
    for (const age of ages) assert.ok(age >= 240_000 && age <= 390_000, `${age}`);
    assert.ok(ages.length >= 4);
  });

  it('an exchange that is under way is never cut, and its connection ends with its answer', async () => {
    let finish: () => void = () => undefined;
    const up = await rawUpstream(
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${KEEP}Content-Length: 2\r\n\r\na`);
        finish = () => socket.write('b');
      },
      { connection_max_age_ms: 1000 },
    );
    const stream = up.ask('{}');
    await until('the answer began', () => stream.body.length === 1);
    up.clock.advance(3_600_000);
    assert.equal(up.open.size, 1);
    finish();
    assert.equal(await stream.done, '200 ab');
    await until('it is closed', () => up.open.size === 0);
    await up.close();
  });
});
