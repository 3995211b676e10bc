import type { Writable } from 'node:stream';
import type { Config } from '../config/schema/config.js';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Metrics } from '../contract/metrics.js';
import { ConfigError } from '../errors/error.js';
import { type ClosableAudit, createAudit } from '../telemetry/audit.js';
import { createFileSink, createStreamSink } from '../telemetry/audit-sink.js';

export interface AuditDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly stdout: NodeJS.WritableStream | undefined;
}

/** Opens `telemetry.audit`; undefined when there is none. Throws ConfigError when it goes to standard output and the program provides none. */
export function openAudit(config: Config, deps: AuditDeps): ClosableAudit | undefined {
  const { audit } = config.telemetry;
  if (audit === undefined) return undefined;
  const to_stdout = audit.file === '-';
  if (to_stdout && deps.stdout === undefined)
    throw new ConfigError([{ where: 'telemetry.audit.file', message: '"-" needs the stdout that the embedding program gives' }]);
  return createAudit({
    sink: to_stdout ? createStreamSink(deps.stdout as Writable) : createFileSink(audit.file),
    clock: deps.clock,
    principal: audit.principal,
    admissions: audit.admissions,
    dropped: deps.metrics.counter('audit_dropped_total', ''),
    failed: (error, lines) => deps.log.error({ error: String(error), lines }, 'the audit could not be written'),
  });
}
