import { trimOws } from '../../wire/field.js';

const SLASH = 0x2f;
/** Unreserved characters, sub-delims without the semicolon, and the path's own (RFC 3986 section 3.3). */
const PLAIN = /^[A-Za-z0-9\-._~!$&'()*+,=:@/%]*$/;
/** Also when the percent sign is itself encoded, once or more. */
const AMBIGUOUS = /%(?:25)*(?:2e|2f|5c|3b|[01][0-9a-f]|7f)/i;

/** Where a plain HTTP upstream stands, seen from both sides. Paths have no trailing slash; the root is empty. */
export interface HttpMount {
  /** Origin of the upstream. */
  readonly origin: string;
  /** The upstream's own base path. */
  readonly base: string;
  /** The public path that replaces it. */
  readonly prefix: string;
  /** `own`: redirects inside the mount only. `any`: to other origins too, as an authorization server needs. */
  readonly redirects: 'own' | 'any';
  /** Origin that clients dial, if it is known. */
  readonly public_origin: string | undefined;
}

/**
 * A Location for the client: below the public prefix and without the upstream's origin. Undefined when it leads out of the mount,
 * or to another origin that `redirects` does not allow. `target` is the upstream path that was asked.
 */
export function publicLocation(location: string, mount: HttpMount, target: string): string | undefined {
  if (!URL.canParse(location, mount.origin + target)) return undefined;
  const url = new URL(location, mount.origin + target);
  if (url.origin === mount.origin) {
    const path = moved(url.pathname, mount.base, mount.prefix);
    return path === undefined || path.startsWith('//') ? undefined : path + url.search + url.hash;
  }
  if (url.origin === mount.public_origin && below(url.pathname, mount.prefix)) return url.pathname + url.search + url.hash;
  return mount.redirects === 'any' ? location : undefined;
}

/**
 * A Set-Cookie line whose cookie comes back to this mount only: no Domain, and a Path below the public prefix. Undefined for a
 * `__Host-` cookie, which must be for the whole origin (RFC 6265bis section 4.1.3.2), unless the mount is the origin's root.
 */
export function confinedCookie(line: string, mount: HttpMount): string | undefined {
  const [pair = '', ...attributes] = line.split(';');
  if (mount.prefix !== '' && trimOws(pair).toLowerCase().startsWith('__host-')) return undefined;
  let path = mount.prefix === '' ? '/' : mount.prefix;
  const kept = [trimOws(pair)];
  for (const attribute of attributes) {
    const [name = '', ...value] = attribute.split('=');
    const key = trimOws(name).toLowerCase();
    if (key === 'path') path = moved(trimOws(value.join('=')), mount.base, mount.prefix) ?? path;
    else if (key !== 'domain' && key !== '') kept.push(trimOws(attribute));
  }
  return [...kept, `Path=${path}`].join('; ');
}

/** `path` with `to` in place of `from`; undefined when it is not below `from`. */
function moved(path: string, from: string, to: string): string | undefined {
  if (!below(path, from)) return undefined;
  const whole = to + path.slice(from.length);
  return whole === '' ? '/' : whole;
}

function below(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`);
}

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

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
