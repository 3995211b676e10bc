import type { Log } from '../contract/log.js';
import type { Telemetry } from '../contract/telemetry.js';

/** Tells the log one line for each request that a route took, when its answer is over (`telemetry.log.access`). No identity and no argument is in it. */
export function withAccessLog(telemetry: Telemetry, log: Log): Telemetry {
  return {
    ...telemetry,
    requestEnded(record) {
      telemetry.requestEnded(record);
      const { request_id, route, method, tool, revision, outcome, rpc_code, seconds } = record;
      const trace_id = record.trace?.trace_id;
      const milliseconds = Math.round(seconds * 1e6) / 1e3;
      const traced = trace_id === undefined ? {} : { trace_id };
      log.info({ request_id, route, method, tool, revision, outcome, rpc_code, milliseconds, ...traced }, 'request');
    },
  };
}
