import type { Meta } from '../../contract/content.js';
import { CODES } from '../../errors/codes.js';
import type { ProtocolFault } from '../../errors/error.js';
import { errorObject } from '../../wire/rpc.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import type { CoreRequest, ErrorReply, Reply } from './request.js';

/** A complete result from its members' JSON text. */
export function resultOf(
  server: ServerRuntime,
  request: CoreRequest,
  members: string,
  meta?: Meta,
  outcome: 'ok' | 'tool_error' = 'ok',
): Reply {
  return { kind: 'result', json: request.dialect.result(members, meta, server.info), outcome };
}

/** An error of the table. */
export function faultReply(request: CoreRequest, fault: ProtocolFault): ErrorReply {
  const row = CODES[fault.code];
  const message = fault.detail === undefined ? row.message : `${row.message} ${fault.detail}`;
  const data = { code: fault.code, request_id: request.request_id, ...fault.data };
  return errorReply(request, row.rpc, message, data, row.status);
}

/** Any JSON-RPC error. */
export function errorReply(request: CoreRequest, rpc: number, message: string, data: unknown, status: number): ErrorReply {
  return { kind: 'error', json: errorObject(rpc, message, data), rpc, status: request.dialect.status(status) };
}

/** Thrown where a handler's answer turns out to be a fault of the caller. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  readonly fault: ProtocolFault;

  constructor(fault: ProtocolFault) {
    super(fault.code);
    this.fault = fault;
  }
}
