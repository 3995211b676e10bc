import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface Network {
  has(address: Address): boolean;
}

/**
 * A network written as a CIDR or as one address. Octal, hexadecimal and short IPv4 spellings, zones and host bits beside
 * the prefix are errors: they are read differently by different tools. Throws an Error that quotes the text.
 */
export function parseNetwork(text: string): Network {
  const [base, given] = parse(text);
  const mapped = base.kind() === 'ipv6' && (base as ipaddr.IPv6).isIPv4MappedAddress() && given >= 96;
  const address = mapped ? (base as ipaddr.IPv6).toIPv4Address() : base;
  const bits = mapped ? given - 96 : given;
  const first = firstOf(address, bits);
  if (first.toString() !== address.toString()) {
    throw new Error(
      `"${text}" has bits beside its prefix; write ${first.toString()}/${bits}, or ${address.toString()} for the one address`,
    );
  }
  return { has: (other) => other.kind() === address.kind() && other.match(address, bits) };
}

/** The address that a text names, an IPv4-mapped one as IPv4; undefined when it is not a plain IPv4 or IPv6 address. */
export function toAddress(text: string): Address | undefined {
  const plain = text.includes('%') ? text.slice(0, text.indexOf('%')) : text;
  if (plain.includes(':') ? !ipaddr.IPv6.isValid(plain) : !ipaddr.IPv4.isValidFourPartDecimal(plain)) return undefined;
  return ipaddr.process(plain);
}

function parse(text: string): readonly [Address, number] {
  const v6 = text.includes(':');
  const bits = v6 ? 128 : 32;
  if (!text.includes('%')) {
    if (v6 ? ipaddr.IPv6.isValidCIDR(text) : ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return ipaddr.parseCIDR(text);
    if (v6 ? ipaddr.IPv6.isValid(text) : ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.parse(text), bits];
  }
  throw new Error(`"${text}" is not a network; write a CIDR such as 10.0.0.0/8 or 2001:db8::/32, or one address`);
}

function firstOf(address: Address, bits: number): Address {
  const bytes = address.toByteArray().map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - i * 8))) & 0xff);
  return ipaddr.fromByteArray(bytes);
}
