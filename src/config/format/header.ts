import { CONNECTION_FIELDS, isFieldText, isToken } from '../../wire/field.js';

/** Fields that frame a message or name its hop: configuration must not set them. */
const FRAMING = new Set<string>([...CONNECTION_FIELDS, 'content-encoding', 'content-length', 'content-type', 'expect', 'host']);

/** Fields whose meaning to an upstream is fixed, so they cannot carry an identity. */
const MEANT = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'cookie',
  'date',
  'forwarded',
  'last-event-id',
  'origin',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-real-ip',
  'x-request-id',
]);

/** Why a text cannot be the name of a static header toward an upstream. */
export function whyNotStaticHeader(name: string): string | undefined {
  if (!isToken(name)) return 'is not a header field name';
  const lower = name.toLowerCase();
  if (FRAMING.has(lower) || lower.startsWith('proxy-')) return 'is set by the gateway itself and can not be configured';
  if (lower.startsWith('mcp-') || lower === 'accept' || lower === 'last-event-id') return 'mirrors the message and can not be configured';
  return undefined;
}

/** Why a text cannot be the name of the header that carries the identity. */
export function whyNotIdentityHeader(name: string): string | undefined {
  const fault = whyNotStaticHeader(name);
  if (fault !== undefined) return fault;
  const lower = name.toLowerCase();
  if (lower.includes('_')) return 'must not contain _: many servers take it for -';
  if (MEANT.has(lower) || lower.startsWith('x-forwarded-'))
    return 'already means something to an upstream; choose a name such as x-portcullis-identity';
  return undefined;
}

/** Why a text cannot be the name of one more request field that passes to a plain HTTP upstream. */
export function whyNotPassedHeader(name: string): string | undefined {
  if (!/^[A-Za-z0-9-]{1,128}$/.test(name)) return 'is not a plain header field name: letters, digits and -';
  const lower = name.toLowerCase();
  if (lower === 'authorization') return 'is controlled by forward_authorization';
  if (lower === 'cookie') return 'is controlled by forward_cookies';
  const hop = FRAMING.has(lower) && !lower.startsWith('content-');
  return hop || lower === 'forwarded' || /^(?:proxy|x-forwarded)-/.test(lower)
    ? 'is set by the gateway itself and can not be configured'
    : undefined;
}

/** Why a text cannot be the value of a header field. Never reveals the value. */
export function whyNotHeaderValue(value: string): string | undefined {
  if (/[\r\n\0]/.test(value)) return 'must be one line: CR, LF and NUL can not be in a header';
  if (!isFieldText(value)) return 'must be printable ASCII';
  if (value.trim() === '') return 'must not be blank';
  if (value.trim() !== value) return 'must not begin or end with white space';
  return undefined;
}
