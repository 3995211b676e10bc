import type { ErrorCode } from '../errors/codes.js';
import type { ProtocolFault } from '../errors/error.js';
import { toEcho } from '../wire/text.js';
import { isModern, MODERN, SERVED_REVISIONS } from './revisions.js';

/** A fault as an `Outcome`. */
export interface Refused {
  readonly ok: false;
  readonly fault: ProtocolFault;
}

export function refuse(code: ErrorCode, detail: string, data?: ProtocolFault['data']): Refused {
  return { ok: false, fault: data === undefined ? { code, detail } : { code, detail, data } };
}

/** The headers are missing, malformed, repeated or different from the body: -32020. */
export function headerMismatch(detail: string): Refused {
  return refuse('HEADER_MISMATCH', detail);
}

/** A modern request without `Mcp-Method`, or a notification without it that is none by its name. */
export function missingMethod(): Refused {
  return headerMismatch(`Mcp-Method is missing; revision ${MODERN} needs it on every request.`);
}

/**
 * The revision is not served: -32022. `data.supported` names modern revisions only, as `server/discover` does: a client that
 * reads this error retries with one of them and needs `initialize` for any other.
 */
export function unsupportedVersion(requested: string): Refused {
  return refuse('UNSUPPORTED_VERSION', `Revision "${toEcho(requested)}" is not served here.`, {
    supported: SERVED_REVISIONS.filter(isModern),
    requested: toEcho(requested),
  });
}
