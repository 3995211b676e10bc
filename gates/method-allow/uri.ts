/**
 * True when a URI has a `.` or `..` segment, written out, escaped, escaped twice or with backslashes: whoever resolves it ends up
 * elsewhere than where the text seems to point (RFC 3986 section 5.2.4).
 */
export function climbs(uri: string): boolean {
  // Every run of escaped percent signs in one pass: unwinding them one by one costs the square of a hostile URI's length.
  const once = uri.toLowerCase().replace(/%(?:25)+/g, '%');
  const plain = once.replaceAll('%2e', '.').replaceAll('%2f', '/').replaceAll('%5c', '/').replaceAll('\\', '/');
  return plain.split(/[/?#]/).some((segment) => segment === '.' || segment === '..');
}
