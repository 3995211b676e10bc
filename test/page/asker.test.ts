import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../src/errors/error.js';
import type { Explanation } from '../../src/explain/explain.js';
import { Asker } from '../../src/page/asker.js';
import { makeClock } from '../../src/testing.js';

const EXPLANATION = { outcome: 'admitted' } as Explanation;
const QUESTION = { path: '/mcp' };

describe('the asker', () => {
  it('asks one question at a time', async () => {
    let finish = (_explanation: Explanation): void => undefined;
    const asker = new Asker(() => new Promise((resolve) => (finish = resolve)), makeClock());
    const first = asker.ask(QUESTION);
    assert.deepEqual(await asker.ask(QUESTION), { status: 429, why: 'Another question is being answered. Ask again in a moment.' });
    finish(EXPLANATION);
    assert.deepEqual(await first, { explanation: EXPLANATION });
    void asker.ask(QUESTION);
    finish(EXPLANATION);
  });

  it('gives up after 8 s, and keeps the place until the question is over', async () => {
    const clock = makeClock();
    let finish = (_explanation: Explanation): void => undefined;
    const asker = new Asker(() => new Promise((resolve) => (finish = resolve)), clock);
    const late = asker.ask(QUESTION);
    clock.advance(8_000);
    assert.deepEqual(await late, { status: 504, why: 'The gates did not answer within 8 s.' });
    assert.ok('status' in (await asker.ask(QUESTION)));
    finish(EXPLANATION);
    await new Promise(setImmediate);
    const next = asker.ask(QUESTION);
    finish(EXPLANATION);
    assert.deepEqual(await next, { explanation: EXPLANATION });
    assert.equal(clock.pending, 0);
  });

  it('tells a gate that cannot be opened, and nothing of any other failure', async () => {
    const failing = (error: unknown) => new Asker(() => Promise.reject(error), makeClock()).ask(QUESTION);
    assert.deepEqual(await failing(new ConfigError([{ where: 'gates.a', message: 'could not be opened', excerpt: 'SECRET' }])), {
      status: 422,
      why: 'The gates could not be opened: gates.a: could not be opened',
    });
    assert.deepEqual(await failing(new Error('SECRET')), { status: 500, why: 'The gates could not be asked.' });
  });
});
