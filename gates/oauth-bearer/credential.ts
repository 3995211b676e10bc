import type { RequestHead } from 'portcullis/gate';

export type Scheme = 'Bearer' | 'DPoP';

/** What the head presents. `malformed` is answered 400, `none` 401 without an error. `token` is any text until `isToken` has seen it. */
export type Credential =
  | { readonly kind: 'token'; readonly scheme: Scheme; readonly token: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed'; readonly why: string };

const NONE: Credential = { kind: 'none' };

/**
 * The access token of the Authorization field (RFC 6750 section 2.1, RFC 9449 section 7.1); no other place is looked at.
 * The scheme ignores case and exactly one space follows it. An empty field, a scheme without a token and another scheme
 * are `none`. `dpop` false makes DPoP another scheme. A repeated field and a token in the query beside one in the field are
 * malformed; a token in the query alone is ignored.
 */
export function readCredential(head: RequestHead, dpop: boolean): Credential {
  const values = head.headers.all('authorization');
  if (values.length === 0) return NONE;
  if (values.length > 1) return { kind: 'malformed', why: 'Send the Authorization header once.' };
  const value = values[0] ?? '';
  const scheme = schemeOf(value, dpop);
  if (scheme === undefined) return NONE;
  const token = value.slice(scheme.length + 1);
  if (token === '') return NONE;
  if (value.charCodeAt(scheme.length) !== SPACE) return { kind: 'malformed', why: NOT_ONE_TOKEN };
  if (head.query !== '' && new URLSearchParams(head.query).has('access_token'))
    return { kind: 'malformed', why: 'Send the access token in the Authorization header only, not in the query as well.' };
  return { kind: 'token', scheme, token };
}

/** True for text that can be a token at all: RFC 6750 `b64token`. Two disjoint classes: linear. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(text);
}

export const NOT_ONE_TOKEN = 'The credential must be one token after exactly one space.';

const SPACE = 0x20;

function schemeOf(value: string, dpop: boolean): Scheme | undefined {
  if (isScheme(value, 'bearer')) return 'Bearer';
  return dpop && isScheme(value, 'dpop') ? 'DPoP' : undefined;
}

function isScheme(value: string, scheme: string): boolean {
  return value.slice(0, scheme.length).toLowerCase() === scheme && !/^[A-Za-z0-9!#$%&'*+\-.^_`|~]/.test(value.charAt(scheme.length));
}
