import { whyNotHeaderValue, whyNotIdentityHeader, whyNotPassedHeader, whyNotStaticHeader } from './header.js';
import { whyNotAuthority, whyNotCidr, whyNotHost, whyNotOrigin } from './network.js';
/** Formats that the schema names: each says why a text does not have it, without repeating the text. */
export const FORMATS: Readonly<Record<string, (text: string) => string | undefined>> = {
  authority: whyNotAuthority,
  cidr: whyNotCidr,
  'dialed-url': whyNotDialedUrl,
  'header-value': whyNotHeaderValue,
  host: whyNotHost,
  'identity-header': whyNotIdentityHeader,
  'listed-origin': whyNotOrigin,
  'passed-header': whyNotPassedHeader,
  'plain-url': whyNotPlainUrl,
  'process-text': whyNotProcessText,
  'public-url': whyNotPublicUrl,
  'route-path': whyNotRoutePath,
  'session-key': (text) =>
    text.length < 16 ? 'must have at least 16 characters, better 32 and more, e.g. from: openssl rand -base64 32' : undefined,
  'static-header': whyNotStaticHeader,
  'upstream-url': whyNotUpstreamUrl,
  'variable-name': whyNotVariableName,
};

/** Why a text cannot be handed to a new process as its command, folder, argument or variable. */
function whyNotProcessText(text: string): string | undefined {
  return text.includes('\0') ? 'must not contain NUL' : undefined;
}

/** Why a text cannot be the name of an environment variable. */
function whyNotVariableName(name: string): string | undefined {
  return /^[^=\0]{1,256}$/.test(name) ? undefined : 'is not the name of an environment variable: 1 to 256 characters, no = and no NUL';
}

/** Why a text is not the path of a route. What could be spelt in two ways is refused, so that a path has one spelling. */
function whyNotRoutePath(text: string): string | undefined {
  if (!text.startsWith('/')) return 'must begin with /';
  if (/[?#]/.test(text)) return 'must not have a query or fragment';
  if (text.includes('%')) return 'must not be percent-encoded; encoded spellings never match';
  if (text.includes('//')) return 'must not contain //';
  if (/[;\\]/.test(text)) return 'must not contain ; or \\';
  if (/[^\u0021-\u007e]/.test(text)) return 'must be visible ASCII';
  if (/["<>^`{|}]/.test(text)) return 'must not contain any of " < > ^ ` { | }; clients encode them';
  if (text.split('/').some((segment) => segment === '.' || segment === '..')) return 'must not contain . or .. segments';
  return undefined;
}

/** Why a text is not a URL that clients dial: http(s), canonical, without userinfo, query or fragment. Undefined: it is one. */
function whyNotDialedUrl(text: string): string | undefined {
  const fault = whyNotPlainUrl(text);
  if (fault !== undefined) return fault;
  const url = new URL(text);
  if (url.pathname === '/') return text === url.origin ? undefined : canonical('no trailing slash');
  return text === url.href ? undefined : canonical('no dot segments');
}

/** The text of a URL as it may be shown: `?…` for its query, which may hold a key. */
export function shownUrl(text: string): string {
  return text.replace(/\?.*$/s, '?…');
}

/** Like whyNotDialedUrl; a path is appended to this one, so it has no trailing slash at all. */
function whyNotPublicUrl(text: string): string | undefined {
  if (text.endsWith('/') && whyNotPlainUrl(text) === undefined) return 'must not end with a slash: the path of a route is appended';
  return whyNotDialedUrl(text);
}

/** Why a text is not an http(s) URL without userinfo, query and fragment. */
export function whyNotPlainUrl(text: string): string | undefined {
  return text.includes('?') && !/[#\s]/.test(text) ? 'must not have a query' : whyNotUpstreamUrl(text);
}

/** Why a text is not an http(s) URL without userinfo and fragment. It may have a query, which counts as a secret. */
function whyNotUpstreamUrl(text: string): string | undefined {
  if (/[\s\\\u0000-\u0020\u007f]/.test(text)) return 'must not contain white space, control characters or a backslash';
  if (!/^https?:\/\//i.test(text)) return 'must be a URL that begins with http:// or https://';
  if (text.includes('#')) return 'must not have a fragment';
  if (!URL.canParse(text)) return 'is not a valid URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/]*@/i.test(text)) {
    return 'must not carry a user name or password; put credentials into headers';
  }
  return undefined;
}

function canonical(also: string): string {
  return `must be in the form that clients use: lower-case scheme and host, no default port, ${also}`;
}
