/**
 * The upstream's path for a public path below `prefix`, with `base` in place of it; undefined when two readers could take the
 * path for different ones: a dot segment, an empty segment, an encoded (or doubly encoded) slash, backslash, dot, semicolon or
 * control character, any character that RFC 3986 section 3.3 does not give a path, or a percent-encoding that is not UTF-8.
 * `prefix` and `base` have no trailing slash; the root is empty.
 */
export function confinedPath(path: string, prefix: string, base: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const rest = path.slice(prefix.length);
  if (rest !== '' && rest.charCodeAt(0) !== SLASH) return undefined;
  if (!PLAIN.test(rest) || AMBIGUOUS.test(rest) || !decodes(rest)) return undefined;
  for (const segment of rest.split('/').slice(1, -1)) if (segment === '') return undefined;
  for (const segment of rest.split('/')) if (segment === '.' || segment === '..') return undefined;
  const whole = base + rest;
  return whole === '' ? '/' : whole;
}

const SLASH = 0x2f;
/** Unreserved characters, sub-delims without the semicolon, and the path's own (RFC 3986 section 3.3). */
const PLAIN = /^[A-Za-z0-9\-._~!$&'()*+,=:@/%]*$/;
/** Also when the percent sign is itself encoded, once or more. */
const AMBIGUOUS = /%(?:25)*(?:2e|2f|5c|3b|[01][0-9a-f]|7f)/i;

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
