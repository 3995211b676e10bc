import type { TransportFault } from '../contract/transport.js';

/** Why a call of the client failed. */
export type ClientErrorCode =
  /** No server accepted the connection, or TLS failed. */
  | 'UNREACHABLE'
  /** 401: a token is needed, or this one is not good. `challenge` says more. */
  | 'UNAUTHORIZED'
  /** 403: this caller may not. */
  | 'FORBIDDEN'
  /** Another HTTP status than success. */
  | 'REFUSED'
  /** The server answered a JSON-RPC error: `rpc`. */
  | 'RPC_ERROR'
  | 'TIMEOUT'
  | 'CANCELLED'
  /** `close()` was called before. */
  | 'CLOSED'
  /** The connection broke, or the server ended, before it answered. */
  | 'ENDED'
  /** A limit of the client: bytes of an answer. */
  | 'TOO_LARGE'
  /** A limit of the client: pages or items of a list, or a cursor that came twice. */
  | 'PAGE_LIMIT'
  /** The answer is not MCP. */
  | 'BROKEN'
  /** Client and server have no protocol revision in common. */
  | 'NO_COMMON_VERSION'
  /** The server asks for what no callback answers, or asks too often. */
  | 'INPUT_REQUIRED'
  /** A callback of this client threw: `cause`. */
  | 'CALLBACK_FAILED'
  /** A transport broke its contract, or failed with its own code. */
  | 'TRANSPORT';

export interface ClientErrorDetail {
  readonly status?: number;
  readonly challenge?: string;
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly cause?: unknown;
}

/**
 * An error of the client. `message` is for people; `code` for programs.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { ClientError, connect } from 'portcullis/client';
 * import { defineServer } from 'portcullis/server';
 *
 * const client = await connect({ server: defineServer({ name: 'x', version: '1.0.0', tools: [{ name: 'ping', run: () => 'pong' }] }) });
 * try {
 *   await client.callTool('pong');
 * } catch (error) {
 *   assert.ok(error instanceof ClientError);
 *   assert.deepEqual([error.code, error.rpc?.code], ['RPC_ERROR', -32602]);
 * }
 * await client.close();
 * ```
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  /** HTTP status, when one was answered. */
  readonly status: number | undefined;
  /** The `WWW-Authenticate` header of a refusal. */
  readonly challenge: string | undefined;
  /** The JSON-RPC error, when one was answered. */
  readonly rpc: ClientErrorDetail['rpc'];

  constructor(code: ClientErrorCode, message: string, detail: ClientErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.status = detail.status;
    this.challenge = detail.challenge;
    this.rpc = detail.rpc;
  }
}

/** The error of a transport's fault. */
export function fromFault(fault: TransportFault): ClientError {
  const { code, message, status, headers, rpc } = fault;
  const challenge = headers?.['www-authenticate'];
  const detail = {
    ...(status === undefined ? {} : { status }),
    ...(challenge === undefined ? {} : { challenge }),
    ...(rpc === undefined ? {} : { rpc }),
  };
  if (status === 401) return new ClientError('UNAUTHORIZED', message, detail);
  if (status === 403) return new ClientError('FORBIDDEN', message, detail);
  if (rpc !== undefined) return new ClientError('RPC_ERROR', message, detail);
  return new ClientError(
    KNOWN.has(code) ? (code as ClientErrorCode) : 'TRANSPORT',
    KNOWN.has(code) ? message : `${code}: ${message}`,
    detail,
  );
}

const KNOWN: ReadonlySet<string> = new Set<ClientErrorCode>([
  'UNREACHABLE',
  'REFUSED',
  'TIMEOUT',
  'CANCELLED',
  'CLOSED',
  'ENDED',
  'TOO_LARGE',
  'BROKEN',
  'CALLBACK_FAILED',
]);
