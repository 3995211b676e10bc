import type { LoadedConfig } from '../config/load.js';
import type { Clock } from '../contract/clock.js';
import type { TunnelEgress } from '../upstream/egress.js';
import { checkCertificates } from './certificates.js';
import { type Finding, ok, runChecks, warn } from './check.js';
import { checkClock } from './clock-difference.js';
import { checkDrain, checkSessions, type DrainTimes } from './drain.js';
import { checkIssuers, issuersOf } from './issuers.js';
import { checkAudiences } from './login.js';
import { checkFiles, checkOpenFiles } from './open-files.js';
import { type Credentials, checkRoutes } from './routes.js';
import { checkUpstreams, upstreamsOf } from './upstreams.js';

export interface ExamineOptions extends DrainTimes, Credentials {
  readonly clock: Clock;
  /** The way to what is reached over the network. */
  readonly egress: TunnelEgress;
  /** For each check; a route has it for each of its three steps. */
  readonly timeout_ms: number;
  /** Text of `/proc/self/limits`; undefined on other systems. */
  readonly limits: string | undefined;
  /** Ends everything early. */
  readonly stop: AbortSignal;
}

/** Everything that can be found out about a config that loads, before it serves. */
export async function examine(loaded: LoadedConfig, options: ExamineOptions): Promise<readonly Finding[]> {
  const { config, warnings } = loaded;
  const { clock, timeout_ms, egress } = options;
  const issuers = issuersOf(loaded).map((url) => ({ url, ca: undefined }));
  const checks = [
    checkFiles(loaded),
    checkSessions(config),
    checkCertificates(loaded, clock),
    checkDrain(config, options),
    checkOpenFiles(config, options.limits),
    checkAudiences(loaded),
    ...checkIssuers(loaded, egress),
    ...checkUpstreams(config, egress),
    checkClock([...issuers, ...upstreamsOf(config)], clock, egress),
  ];
  const [looked, routes] = await Promise.all([
    runChecks(checks, clock, timeout_ms, options.stop),
    checkRoutes(loaded, options, clock, timeout_ms, options.stop),
  ]);
  const read =
    warnings.length === 0
      ? [ok('config', 'loads')]
      : warnings.map((warning) => warn('config', warning, 'portcullis validate shows it too.'));
  return [...read, ...looked, ...routes];
}
