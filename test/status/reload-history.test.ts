import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../src/errors/error.js';
import { ReloadHistory } from '../../src/status/reload-history.js';
import { makeClock } from '../../src/testing.js';

describe('the history of reloads', () => {
  it('counts them and remembers the last one, with what waits for a restart', async () => {
    const history = new ReloadHistory(makeClock(5_000));
    assert.deepEqual(await history.follow(async () => ({ restart: ['ops'] })), { restart: ['ops'] });
    assert.deepEqual(history.last, { at_ms: 5_000, outcome: 'succeeded', restart: ['ops'], problems: [] });
    const problem = { where: 'routes', message: 'must be a list', file: 'p.yaml', line: 3, column: 2, excerpt: 'SECRET' };
    await assert.rejects(
      history.follow(() => Promise.reject(new ConfigError([problem]))),
      ConfigError,
    );
    assert.deepEqual(history.last, { at_ms: 5_000, outcome: 'failed', restart: ['ops'], problems: ['p.yaml:3:2 routes: must be a list'] });
    assert.deepEqual([history.succeeded, history.failed], [1, 1]);
  });

  it('tells 20 problems at most, and nothing of an error of another kind', async () => {
    const history = new ReloadHistory(makeClock());
    const many = Array.from({ length: 30 }, (_, at) => ({ where: `routes[${at}]`, message: 'wrong' }));
    await assert.rejects(history.follow(() => Promise.reject(new ConfigError(many))));
    assert.deepEqual([history.last?.problems.length, history.last?.problems.at(-1)], [21, '10 more are in the log']);
    await assert.rejects(history.follow(() => Promise.reject(new Error('SECRET'))));
    assert.deepEqual(history.last?.problems, ['The config cannot be used; the log says why.']);
  });
});
