import type { Log } from '../../src/contract/log.js';
import { createGateway, type Gateway } from '../../src/index.js';
import { makeLog, type TestLog } from '../../src/testing.js';
import { readMetric } from './e2e/gateway.js';

/** A started gateway in this process, with its ops listener on a free port. */
export interface Running {
  readonly gateway: Gateway;
  readonly url: string;
  readonly ops_url: string;
  readonly log: TestLog;
  /** Sum of the samples of one metric whose labels include all of `labels`. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Ends it at once. */
  close(): Promise<void>;
}

export interface RunningInit {
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdout?: NodeJS.WritableStream;
  /** Where the log goes instead of `Running.log`. */
  readonly written?: Log;
}

/** Starts a gateway on a config; `listener` and `ops` get the port 0 when they name none. */
export async function running(config: Readonly<Record<string, unknown>>, init: RunningInit = {}): Promise<Running> {
  const log = makeLog();
  const gateway = createGateway(
    { ...config, listener: { port: 0, ...(config.listener as object) }, ops: { port: 0, ...(config.ops as object) } },
    { ...init, log: init.written ?? log },
  );
  await gateway.start();
  const { url, ops_url = '' } = gateway;
  return {
    gateway,
    url,
    ops_url,
    log,
    metric: (name, labels = {}) => readMetric(`${ops_url}/metrics`, name, labels),
    close: () => gateway.close(),
  };
}
