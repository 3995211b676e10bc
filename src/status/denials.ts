import type { Audit, AuditVerdict } from '../contract/audit.js';
import type { Log, RefusalLog } from '../contract/log.js';
import type { Call } from '../contract/runtime.js';
import type { Telemetry } from '../contract/telemetry.js';
import { CODES, type ErrorCode } from '../errors/codes.js';
import type { GatewayError } from '../errors/error.js';
import type { Admitted } from '../gate-chain/chain.js';
import type { Denial, RoutedRequest } from '../listener/request/request-environment.js';

/** Tells the log and the audit what the listener decided. */
export interface DenialEntry {
  denied(denial: Denial): void;
  admitted(request: RoutedRequest, admitted: Admitted): void;
  failed(call: Call | undefined, error: GatewayError, request_id: string): void;
  refused(code: ErrorCode, request_id: string, client_address: string): void;
}

export function tellDecisions(refusals: RefusalLog, audit: Audit | undefined, log: Log): DenialEntry {
  return {
    denied(denial) {
      const { head, route, gate, status, code, trace } = denial;
      trace?.refused(code, gate);
      const trace_id = trace?.trace_id;
      refusals({
        request_id: head.id,
        status,
        code,
        route,
        gate,
        http_method: head.method,
        path: head.path,
        client_address: head.peer.client_address,
        ...(code === 'ORIGIN_NOT_ALLOWED' ? { detail: `Origin: ${head.headers.all('origin').join(', ')}` } : {}),
        trace_id,
      });
      audit?.decided({
        request_id: head.id,
        route,
        gate,
        verdict: verdictOf(code),
        code,
        status,
        identity: denial.identity,
        method: denial.method,
        tool: denial.tool,
        client_address: head.peer.client_address,
        trace_id,
      });
    },
    admitted({ head, route, trace }, { identity }) {
      audit?.decided({
        request_id: head.id,
        route: route.path,
        gate: '',
        verdict: 'admitted',
        code: '',
        status: 0,
        identity,
        method: head.claims.method ?? '',
        tool: head.claims.method === 'tools/call' ? head.claims.name : undefined,
        client_address: head.peer.client_address,
        trace_id: trace?.trace_id,
      });
    },
    refused(code, request_id, client_address) {
      const { status } = CODES[code];
      refusals({ request_id, status, code, route: '', gate: '', http_method: '', path: '', client_address });
    },
    failed(call, error, request_id) {
      const trace = call?.trace;
      trace?.refused(error.code, '');
      const cause = error.cause instanceof Error ? error.cause.message : error.cause === undefined ? undefined : String(error.cause);
      const { code, status } = error;
      log.warn(
        { request_id, code, status, route: call?.route.path, method: call?.method, cause, trace_id: trace?.trace_id },
        'call failed',
      );
    },
  };
}

function verdictOf(code: string): AuditVerdict {
  return code === 'GATE_TIMEOUT' ? 'timeout' : code === 'GATE_FAILED' ? 'failed' : 'refused';
}

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
