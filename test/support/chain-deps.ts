import type { GateModule } from '../../src/gate.js';
import type { ChainDeps } from '../../src/gate-chain/instances.js';
import { makeClock, makeLog, makeMetrics, type TestClock, type TestLog } from '../../src/testing.js';

/** What chains are opened with, when these modules are the built-ins. */
export function deps(modules: Readonly<Record<string, GateModule>>): ChainDeps & { readonly clock: TestClock; readonly log: TestLog } {
  const telemetry = { gateDecided: () => {} } as never;
  return {
    builtins: modules,
    log: makeLog(),
    metrics: makeMetrics(),
    telemetry,
    clock: makeClock(),
    signal: new AbortController().signal,
    folder: '.',
  };
}
