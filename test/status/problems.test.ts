import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Status } from '../../src/status/status.js';
import { problemsOf } from '../../src/status/status.js';
import { statusWith } from '../support/status.js';

const told = (changes: Partial<Status>): readonly string[] =>
  problemsOf(statusWith(changes)).map(({ level, part, what }) => `${level} ${part}: ${what}`);

const runtime = (health: Status['runtimes'][number]['health']) => [{ name: 'files', kind: 'stdio', health, restarts: {}, answers: {} }];
const key = (keys: number, overdue: boolean) => [{ gate: 'token', keys, age_s: 9, overdue, loads: {} }];

describe('what an operator should look at', () => {
  it('is nothing when all is well', () => assert.deepEqual(told({}), []));

  it('is each thing that refuses somebody or soon will, worst first', () => {
    assert.deepEqual(told({ runtimes: runtime('degraded') }), ['bad runtimes: Runtime files (stdio) does not answer.']);
    assert.deepEqual(told({ runtimes: runtime('stopped') }), ['bad runtimes: Runtime files (stdio) is stopped.']);
    assert.deepEqual(told({ runtimes: runtime('starting') }), ['warn runtimes: Runtime files (stdio) is starting.']);
    assert.deepEqual(told({ keys: key(0, false) }), ['bad keys: Gate token has no signing keys: it cannot admit anybody.']);
    assert.deepEqual(told({ keys: key(1, true) }), ['warn keys: The signing keys of gate token could not be fetched again.']);
    assert.deepEqual(told({ connections: { idle: 922 } }), ['bad traffic: 922 of 1024 connections are in use.']);
    assert.deepEqual(told({ connections: { idle: 921 } }), []);
    assert.deepEqual(told({ subscriptions: { open: 250, max: 256 } }), ['bad traffic: 250 of 256 subscriptions are in use.']);
    assert.deepEqual(told({ ready: false, reason: 'starting' }), ['bad summary: It is not ready: starting.']);
    const last = { at_ms: 0, outcome: 'failed', restart: ['ops'], problems: [] } as const;
    assert.deepEqual(told({ reloads: { succeeded: 0, failed: 1, last }, keys: key(0, false) }), [
      'bad keys: Gate token has no signing keys: it cannot admit anybody.',
      'warn reloads: The last reload was refused; the config before it stays in force.',
      'warn reloads: A restart is needed for ops.',
    ]);
  });

  it('of a gateway that drains is the drain, not that its runtimes stop', () => {
    const drain = { ...statusWith().drain, state: 'closing', remaining: 4 } as const;
    assert.deepEqual(told({ ready: false, reason: 'closing', drain, runtimes: runtime('stopped') }), [
      'warn summary: It takes no more work; connections still open: 4.',
    ]);
  });
});
