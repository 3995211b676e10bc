import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wantsOpenMetrics } from '../../src/telemetry/expose.js';

it('Accept chooses the exposition', () => {
  const cases: readonly [string | undefined, boolean][] = [
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['text/plain', false],
    ['application/openmetrics-text', true],
    ['Application/OpenMetrics-Text; version=1.0.0; charset=utf-8', true],
    ['text/plain;q=0.9, application/openmetrics-text;q=0.5', false],
    ['text/plain;q=0.3, application/openmetrics-text;version=1.0.0;q=0.5', true],
    ['application/openmetrics-text;q=0', false],
    ['application/openmetrics-text;q=nonsense', false],
    [`application/openmetrics-text,${'x'.repeat(5_000)}`, false],
  ];
  for (const [accept, expected] of cases) assert.equal(wantsOpenMetrics(accept), expected, accept);
});
