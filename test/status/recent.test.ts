import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Recent, withRecent } from '../../src/status/recent.js';
import { makeClock } from '../../src/testing.js';

const refusal = (change: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'refused' as const,
  code: 'TOKEN_REQUIRED',
  status: 401,
  gate: 'token',
  route: '/mcp',
  request_id: 'a-1',
  client_address: '192.0.2.1',
  http_method: 'POST',
  path: '/mcp',
  ...change,
});

describe('what was refused lately', () => {
  it('equal refusals are one row with a count and the latest caller, the latest row first', () => {
    const clock = makeClock(1_000_000);
    const recent = new Recent(clock);
    recent.note(refusal());
    recent.note(refusal({ code: 'NO_ROUTE', gate: '', route: '' }));
    clock.advance(5_000);
    recent.note(refusal({ request_id: 'a-3', client_address: '192.0.2.9' }));
    assert.deepEqual(
      recent.rows.map(({ code, count, first_at_ms, last_at_ms, request_id, client_address }) => [
        code,
        count,
        first_at_ms,
        last_at_ms,
        request_id,
        client_address,
      ]),
      [
        ['TOKEN_REQUIRED', 2, 1_000_000, 1_005_000, 'a-3', '192.0.2.9'],
        ['NO_ROUTE', 1, 1_000_000, 1_000_000, 'a-1', '192.0.2.1'],
      ],
    );
  });

  it('keeps code, gate, route, and refusals and failures apart', () => {
    const recent = new Recent(makeClock());
    for (const change of [{}, { code: 'X' }, { gate: 'x' }, { route: '/x' }, { kind: 'failed' as const }]) recent.note(refusal(change));
    assert.equal(recent.rows.length, 5);
  });

  it('is bounded: 64 rows, the quietest goes first; a long path is cut', () => {
    const recent = new Recent(makeClock());
    for (let i = 0; i < 64; i++) recent.note(refusal({ route: `/${i}` }));
    recent.note(refusal({ route: '/0' }));
    for (let i = 64; i < 70; i++) recent.note(refusal({ route: `/${i}`, path: 'x'.repeat(10_000) }));
    const routes = recent.rows.map(({ route }) => route);
    assert.deepEqual([routes.length, routes[0], routes.includes('/0'), routes.includes('/1')], [64, '/69', true, false]);
    assert.equal(recent.rows[0]?.path.length, 201);
  });

  it('is not told of admissions: they go their way as before', () => {
    const told = { denied: () => undefined, admitted: () => undefined, failed: () => undefined, refused: () => undefined };
    assert.equal(withRecent(told, new Recent(makeClock())).admitted, told.admitted);
  });

  it('a flood of one kind costs one row', () => {
    const recent = new Recent(makeClock());
    for (let i = 0; i < 10_000; i++) recent.note(refusal());
    assert.deepEqual([recent.rows.length, recent.rows[0]?.count], [1, 10_000]);
  });
});
