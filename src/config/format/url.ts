/** Why a text is not a URL that clients dial: http(s), canonical, without userinfo, query or fragment. Undefined: it is one. */
export function whyNotDialedUrl(text: string): string | undefined {
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
export function whyNotPublicUrl(text: string): string | undefined {
  if (text.endsWith('/') && whyNotPlainUrl(text) === undefined) return 'must not end with a slash: the path of a route is appended';
  return whyNotDialedUrl(text);
}

/** Why a text is not an http(s) URL without userinfo, query and fragment. */
export function whyNotPlainUrl(text: string): string | undefined {
  return text.includes('?') && !/[#\s]/.test(text) ? 'must not have a query' : whyNotUpstreamUrl(text);
}

/** Why a text is not an http(s) URL without userinfo and fragment. It may have a query, which counts as a secret. */
export function whyNotUpstreamUrl(text: string): string | undefined {
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
