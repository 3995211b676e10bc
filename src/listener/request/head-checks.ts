import type { Claims } from '../../contract/claims.js';
import type { RequestHead } from '../../contract/head.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { Outcome } from '../../errors/error.js';
import { accepts, isJsonType } from '../../wire/media.js';
import type { Framing } from '../socket/validate-head.js';
import type { ListenerRoute } from './route.js';

/** Why the door refuses: a row of the error table, perhaps with a detail for the client. */
export interface HeadFault {
  readonly code: ErrorCode;
  readonly detail?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface HeadRules {
  readonly max_body_bytes: number;
  /** `listener.chunked_requests: accept`: bodies without a declared length are counted instead of refused. */
  readonly chunked: boolean;
  readonly readClaims: (headers: RequestHead['headers'], method: string) => Outcome<Claims>;
}

export interface HeadVerdict {
  readonly fault?: HeadFault;
  readonly claims?: Claims;
  readonly json: boolean;
  readonly events: boolean;
}

/**
 * The cheap checks after Origin and before the first gate, in this order: framing, Content-Type,
 * Accept, then the MCP headers. A message that is only too large has its claims beside that fault: gates may be asked who sent it.
 */
export function checkHead(head: RequestHead, route: Pick<ListenerRoute, 'kind'>, framing: Framing, rules: HeadRules): HeadVerdict {
  const fault = checkFraming(head.method, route.kind, framing, rules);
  if (fault !== undefined && (fault.code !== 'BODY_TOO_LARGE' || route.kind !== 'mcp' || head.method !== 'POST')) return { fault, ...BOTH };
  if (route.kind !== 'mcp') return BOTH;
  const message = checkMessage(head, rules);
  if (fault === undefined) return message;
  return message.claims === undefined ? { fault, ...BOTH } : { ...message, fault };
}

function checkMessage(head: RequestHead, rules: HeadRules): HeadVerdict {
  const { headers } = head;
  if (head.method === 'POST') {
    if (!isJsonType(headers.get('content-type'))) return { fault: { code: 'MEDIA_TYPE' }, ...BOTH };
    const coding = headers.all('content-encoding');
    if (coding.length > 0 && !(coding.length === 1 && coding[0]?.toLowerCase() === 'identity'))
      return { fault: { code: 'MEDIA_TYPE' }, ...BOTH };
  }
  const wanted = head.method === 'DELETE' ? BOTH : accepts(headers.all('accept'));
  if (!(wanted.events || (wanted.json && head.method === 'POST'))) return { fault: { code: 'NOT_ACCEPTABLE' }, ...BOTH };
  const claims = rules.readClaims(headers, head.method);
  if (!claims.ok) return { fault: claims.fault, ...BOTH };
  if (claims.value.era === 'modern' && head.method !== 'POST') {
    return { fault: { code: 'METHOD_NOT_ALLOWED', detail: 'Revision 2026-07-28 has no GET stream and no sessions.' }, ...BOTH };
  }
  return { claims: claims.value, json: wanted.json, events: wanted.events };
}

const BOTH = { json: true, events: true } as const;

function checkFraming(method: string, kind: ListenerRoute['kind'], framing: Framing, rules: HeadRules): HeadFault | undefined {
  const { content_length, transfer_encoding, chunked } = framing;
  if (transfer_encoding) {
    // RFC 9112 section 6.3: both at once is how requests are smuggled.
    if (!rules.chunked || !chunked || content_length !== -1) return { code: 'LENGTH_REQUIRED' };
  } else if (content_length === -1 && method === 'POST') return { code: 'LENGTH_REQUIRED' };
  if (content_length > rules.max_body_bytes) {
    return {
      code: 'BODY_TOO_LARGE',
      detail: `At most ${rules.max_body_bytes} bytes are accepted.`,
      data: { max_body_bytes: rules.max_body_bytes },
    };
  }
  const bodiless = kind === 'mcp' ? method !== 'POST' : kind === 'served' || method === 'GET' || method === 'HEAD';
  if (bodiless && (content_length > 0 || transfer_encoding))
    return { code: 'BAD_REQUEST', detail: `A ${method} request here has no body.` };
  return undefined;
}
