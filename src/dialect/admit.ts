import type { CallSummary, Claims } from '../contract/claims.js';
import type { ErrorCode } from '../errors/codes.js';
import type { Outcome, ProtocolFault } from '../errors/error.js';
import type { Envelope } from '../wire/scan.js';
import { toEcho } from '../wire/text.js';
import { isModern, isServed, MODERN, nameField, SERVED_REVISIONS, subjectField } from './methods.js';

/** A message whose body agrees with what its headers claimed. */
export type Admitted = CallSummary & {
  readonly kind: 'request' | 'notification' | 'response';
  /** Raw JSON text; undefined for a notification. */
  readonly id: string | undefined;
  /** Raw JSON text. */
  readonly progress_token: string | undefined;
};

/**
 * Decides the era of one message, once, and whether body and headers agree; pure. Modern: `_meta` carries its required fields
 * (else `INVALID_PARAMS`), and version, method and name equal the headers (else `HEADER_MISMATCH`); a response object is refused.
 * Legacy: everything is read from the body, `initialize` may ask for any version. A body that declares another revision than the
 * header, or a modern one without the header, is refused.
 */
export function admitMessage(envelope: Envelope, claims: Claims): Outcome<Admitted> {
  if (!isServed(claims.revision)) return unsupportedVersion(claims.revision);
  const refused =
    checkRevision(envelope, claims) ?? (claims.era === 'modern' ? checkModern(envelope, claims) : undefined) ?? checkSubject(envelope);
  if (refused !== undefined) return refused;
  const field = subjectField(envelope.method);
  return {
    ok: true,
    value: {
      era: claims.era,
      revision: claims.revision,
      method: envelope.method,
      name: field === undefined ? undefined : envelope[field],
      kind: envelope.kind,
      id: envelope.id,
      progress_token: envelope.progress_token,
    },
  };
}

/** The revision of `_meta` against the header's; a missing one is judged by `checkModern`. */
function checkRevision(envelope: Envelope, claims: Claims): Refused | undefined {
  const body = envelope.meta.protocol_version;
  if (body === undefined || body === claims.revision) return undefined;
  if (claims.declared) {
    return headerMismatch(`MCP-Protocol-Version is ${claims.revision}, but params._meta says "${toEcho(body)}".`);
  }
  if (!isServed(body)) return unsupportedVersion(body);
  return isModern(body) ? headerMismatch(`MCP-Protocol-Version is missing, but params._meta says ${body}.`) : undefined;
}

function checkModern(envelope: Envelope, claims: Claims): Refused | undefined {
  if (envelope.kind === 'response') return refuse('INVALID_REQUEST', `A client sends no responses in revision ${MODERN}.`);
  const { method, meta } = envelope;
  if (claims.method === undefined) {
    // The headers of a notification are not defined; a call that only leaves out its id would be judged by no policy.
    if (envelope.kind === 'request' || !method.startsWith('notifications/')) return missingMethod();
  } else if (claims.method !== method) {
    return headerMismatch(`Mcp-Method is "${toEcho(claims.method)}", but the body's method is "${toEcho(method)}".`);
  }
  if (envelope.kind === 'request') {
    if (method === 'initialize') return refuseInitialize(meta.protocol_version);
    const missing = REQUIRED.filter((key) => (key === VERSION ? meta.protocol_version === undefined : !meta.has_client_capabilities));
    if (missing.length > 0) return refuse('INVALID_PARAMS', `params._meta needs ${missing.join(' and ')} in revision ${MODERN}.`);
  }
  const field = nameField(method);
  if (field === undefined) return undefined;
  const name = envelope[field];
  if (name === claims.name) return undefined;
  if (field === 'taskId' && claims.name === undefined) return undefined;
  if (name === undefined)
    return field === 'taskId' ? headerMismatch(`Mcp-Name names a task, but params.${field} is not a string.`) : undefined;
  return headerMismatch(`Mcp-Name is "${toEcho(claims.name ?? '')}", but params.${field} is "${toEcho(name)}".`);
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const REQUIRED = [VERSION, 'io.modelcontextprotocol/clientCapabilities'];

/** The modern revision has no handshake. A request that says so in its body gets the modern answer; the rest is a mislabelled handshake. */
function refuseInitialize(declared: string | undefined): Refused {
  if (declared === undefined) return headerMismatch(`initialize opens a legacy session; send it without MCP-Protocol-Version: ${MODERN}.`);
  return refuse('METHOD_NOT_FOUND', `Revision ${MODERN} has no initialize.`, { supported: SERVED_REVISIONS.filter(isModern) });
}

/** A request that acts on something must name it: without a name no policy could judge what the server might read. */
function checkSubject(envelope: Envelope): Refused | undefined {
  const field = nameField(envelope.method);
  if (field === undefined || field === 'taskId' || envelope[field] !== undefined) return undefined;
  return refuse('INVALID_PARAMS', `${envelope.method} needs params.${field} as a string.`);
}

/** A fault as an `Outcome`. */
interface Refused {
  readonly ok: false;
  readonly fault: ProtocolFault;
}

function refuse(code: ErrorCode, detail: string, data?: ProtocolFault['data']): Refused {
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
