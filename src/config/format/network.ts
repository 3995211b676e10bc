import { isIP, isIPv6 } from 'node:net';

/** Why a text is not an address or a CIDR such as `10.0.0.0/8`. */
export function whyNotCidr(text: string): string | undefined {
  const slash = text.indexOf('/');
  const version = isIP(slash === -1 ? text : text.slice(0, slash));
  if (version === 0 || text.includes('%')) return 'must be an IP address or a CIDR such as 10.0.0.0/8 or 2001:db8::/32';
  if (slash === -1) return undefined;
  const prefix = text.slice(slash + 1);
  const most = version === 4 ? 32 : 128;
  if (/^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= most) return undefined;
  return `must have a prefix length from 0 to ${most}`;
}

/** Why a text is not something to listen on: an address or a host name, without port. */
export function whyNotHost(text: string): string | undefined {
  if (isIP(text) !== 0) return undefined;
  if (text.startsWith('[')) return 'must be written without brackets';
  if (/:[0-9]+$/.test(text)) return 'must not have a port; it has a key of its own';
  return isName(text) ? undefined : 'must be an IP address or a host name';
}

/** Why a text is not `host` or `host:port`, in lower case. */
export function whyNotAuthority(text: string): string | undefined {
  if (text.includes('*')) return 'must name one host; wildcards are not understood';
  if (text !== text.toLowerCase()) return 'must be in lower case';
  if (isIPv6(text)) return 'must have brackets around the IPv6 address, as in [::1]:8080';
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::([0-9]{1,5}))?$/.exec(text);
  const host = match?.[1] ?? '';
  const port = match?.[2];
  const named = host.startsWith('[') ? isIPv6(host.slice(1, -1)) : isName(host);
  if (!named) return 'must be host or host:port';
  if (port !== undefined && (Number(port) > 65_535 || Number(port) < 1 || port.startsWith('0'))) return 'must have a port from 1 to 65535';
  return undefined;
}

/** Why a text is not an entry of allowed_origins: `host`, `host:port` or `scheme://host[:port]`. */
export function whyNotOrigin(text: string): string | undefined {
  if (text === 'null') return 'null is the origin of sandboxed pages and can not be allowed';
  if (text === '*') return 'must name one origin; list each that may call';
  const end = text.indexOf('://');
  if (end === -1) return whyNotAuthority(text);
  if (!/^https?$/.test(text.slice(0, end))) return 'must begin with http:// or https://, in lower case';
  const fault = whyNotAuthority(text.slice(end + 3));
  if (fault === 'must be host or host:port') return 'must be scheme://host or scheme://host:port, without path or slash at the end';
  if (/^http:.*:80$|^https:.*:443$/.test(text)) return 'must be without the default port: browsers leave it out of Origin';
  return fault;
}

/** True for the addresses and the name that never leave this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function isName(text: string): boolean {
  const labels = text.split('.');
  return text.length <= 253 && labels.every((label) => label.length <= 63 && /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$/.test(label));
}
