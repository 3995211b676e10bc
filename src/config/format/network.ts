import { isIP, isIPv6 } from 'node:net';

/** Why a text is not an address or a CIDR such as `10.0.0.0/8`, host bits zero: tools read others differently, and they are mostly slips. */
export function whyNotCidr(text: string): string | undefined {
  const slash = text.indexOf('/');
  const version = isIP(slash === -1 ? text : text.slice(0, slash));
  if (version === 0 || text.includes('%')) return 'must be an IP address or a CIDR such as 10.0.0.0/8 or 2001:db8::/32';
  if (slash === -1) return undefined;
  const prefix = text.slice(slash + 1);
  const most = version === 4 ? 32 : 128;
  if (!/^(0|[1-9][0-9]{0,2})$/.test(prefix) || Number(prefix) > most) return `must have a prefix length from 0 to ${most}`;
  const address = text.slice(0, slash);
  const groups = groupsOf(address);
  const first = groups.map((group, i) => group & (0xffff << (16 - Math.min(16, Math.max(0, Number(prefix) - 16 * i)))) & 0xffff);
  if (groups.every((group, i) => group === first[i])) return undefined;
  return `has bits beside its prefix; write ${toAddress(first)}/${prefix}, or ${address} for the one address`;
}

/** The 16-bit groups of an address: two of IPv4, eight of IPv6. */
function groupsOf(address: string): readonly number[] {
  if (!address.includes(':')) {
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  }
  // URL writes an IPv4 tail as groups; at most one `::` is left to fill.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))));
  const missing = tail === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  return [...(before ?? []), ...new Array<number>(missing).fill(0), ...(after ?? [])];
}

function toAddress(groups: readonly number[]): string {
  if (groups.length === 2) return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.');
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1);
}

/** Why a text is not something to listen on: an address or a host name, without port. */
export function whyNotHost(text: string): string | undefined {
  if (isIP(text) !== 0) return undefined;
  if (text.startsWith('[')) return 'must be written without brackets';
  if (/:[0-9]+$/.test(text)) return 'must not have a port; use the separate key';
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
