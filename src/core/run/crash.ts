import type { ErrorCode } from '../../errors/codes.js';
import type { CoreRequest } from '../call/request.js';

/** What the log says of a handler that threw: the code is the one that the client was told, the error stays here. */
export function crashFields({ request_id, method, name }: CoreRequest, error: unknown): Readonly<Record<string, unknown>> {
  const code: ErrorCode = 'RUNTIME_FAILED';
  return { request_id, method, name, code, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
