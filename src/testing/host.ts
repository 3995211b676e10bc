import { NO_PROXY } from '../contract/egress.js';
import type { GateHost, GateModule, RequestGate } from '../contract/gate.js';
import type { TSchema } from '../contract/options.js';
import { ConfigError } from '../errors/error.js';
import { checkOptions } from '../modules/options.js';
import { makeClock, type TestClock } from './clock.js';
import { makeContext } from './head.js';
import { makeLog, type TestLog } from './log.js';
import { makeMetrics, type TestMetrics } from './metrics.js';

/** A gate host whose clock, log and metrics a test can move and read. */
export interface TestHost extends GateHost {
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly metrics: TestMetrics;
}

/** What a test sets of a host; the rest is made up. */
export type HostInit = Partial<TestHost>;

/** A gate host for the route `/mcp` of a gate that the config calls `test`; files are found from the working folder, and no proxy is used. */
export function makeHost(init: HostInit = {}): TestHost {
  const values = new Map<string, unknown>();
  return {
    name: 'test',
    clock: makeClock(),
    log: makeLog(),
    metrics: makeMetrics(),
    signal: new AbortController().signal,
    route: makeContext().route,
    folder: '.',
    egress: NO_PROXY,
    shared<T extends { close?(): Promise<void> }>(key: string, create: () => T): T {
      if (!values.has(key)) values.set(key, create());
      return values.get(key) as T;
    },
    ...init,
  };
}

/**
 * Opens a gate as the gateway does: the options are validated, defaulted and frozen first. Throws the ConfigError that the
 * operator would read, with keys such as `options.keys.0.name`. The caller closes the gate.
 */
export async function openGate<S extends TSchema>(
  module: GateModule<S>,
  options: unknown = {},
  host: TestHost = makeHost(),
): Promise<RequestGate> {
  const checked = checkOptions(module.options, options, 'options');
  if (checked.problems.length > 0) throw new ConfigError(checked.problems);
  return await module.open(checked.options as never, host);
}
