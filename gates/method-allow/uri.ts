/**
 * True when a URI has a `.` or `..` segment, written out, escaped, escaped twice or with backslashes: whoever resolves it ends up
 * elsewhere than where the text seems to point (RFC 3986 section 5.2.4).
 */
export function climbs(uri: string): boolean {
  let plain = uri.toLowerCase();
  while (plain.includes('%25')) plain = plain.replaceAll('%25', '%');
  plain = plain.replaceAll('%2e', '.').replaceAll('%2f', '/').replaceAll('%5c', '/').replaceAll('\\', '/');
  return plain.split(/[/?#]/).some((segment) => segment === '.' || segment === '..');
}
