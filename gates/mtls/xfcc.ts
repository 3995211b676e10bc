import { fieldText } from 'portcullis/gate';
import { type Evidence, thumbprint } from './certificate.js';
import { Fault, malformed } from './codes.js';
import { type CertificateChain, fromPercentPem, single } from './encoding.js';
import type { San } from './sans.js';

/** One element of `x-forwarded-client-cert`, added by one proxy: the values of each key, in lower case, one per occurrence. */
export type XfccElement = ReadonlyMap<string, readonly string[]>;

/** Elements of one header, and pairs of all of them, before it is refused. */
export const MAX_ELEMENTS = 16;
export const MAX_PAIRS = 128;

/**
 * Parses Envoy's header: `,` between elements, `;` between pairs, `key=value`, values quoted or bare, `\"` for a quote in
 * a quoted value, UTF-8 beyond ASCII. Linear; one reading only: what two parsers could take apart differently is a fault.
 */
export function parseXfcc(value: string): readonly XfccElement[] | Fault {
  const text = fieldText(value);
  if (text === undefined || /\p{Cc}/u.test(text))
    return malformed('The header has a character that is neither printable ASCII nor in UTF-8.');
  const elements: Map<string, string[]>[] = [new Map()];
  let at = 0;
  for (let pairs = 0; ; pairs += 1) {
    if (pairs === MAX_PAIRS) return malformed(`The header has more than ${MAX_PAIRS} pairs.`);
    const pair = readPair(text, at);
    if (typeof pair === 'string') return malformed(pair);
    const element = elements.at(-1) as Map<string, string[]>;
    const values = element.get(pair.key);
    if (values === undefined) element.set(pair.key, [pair.value]);
    else values.push(pair.value);
    at = pair.end;
    if (at === text.length) return elements;
    if (text[at] === ',') {
      if (elements.push(new Map()) > MAX_ELEMENTS) return malformed(`The header has more than ${MAX_ELEMENTS} elements.`);
      while (text[at + 1] === ' ') at += 1;
    }
    at += 1;
  }
}

interface Pair {
  readonly key: string;
  readonly value: string;
  /** Where the separator is, or the end of the text. */
  readonly end: number;
}

/** Reads `key=value` up to the next separator; a string says what is wrong. */
function readPair(text: string, start: number): Pair | string {
  let at = start;
  while (isLetter(text.charCodeAt(at))) at += 1;
  if (at === start || text[at] !== '=') return 'The header has something that is not key=value.';
  const key = text.slice(start, at).toLowerCase();
  at += 1;
  if (text[at] === '"') return readQuoted(text, key, at + 1);
  const from = at;
  while (at < text.length && text[at] !== ';' && text[at] !== ',') {
    if (text[at] === '"') return 'The header has a quote inside a bare value.';
    at += 1;
  }
  return { key, value: text.slice(from, at), end: at };
}

function readQuoted(text: string, key: string, from: number): Pair | string {
  let value = '';
  let copied = from;
  let pair_end = -1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') {
      if (text[at + 1] === '"') {
        value += text.slice(copied, at);
        copied = at + 1;
      } else if (text[at + 1] === '\\') pair_end = at + 2;
      at += 1;
    } else if (text[at] === '"') {
      // Envoy escapes quotes only, OpenSSL's subject text backslashes too: whether \\" ends the value depends on the reader.
      if (pair_end === at) return 'The header has a quote after two backslashes, which can be read in two ways.';
      const end = at + 1;
      if (end < text.length && text[end] !== ';' && text[end] !== ',') return 'The header has text after a quoted value.';
      return { key, value: value + text.slice(copied, at), end };
    }
  }
  return 'The header has a quote that is never closed.';
}

function isLetter(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
}

/**
 * Envoy and Istio: `x-forwarded-client-cert`. Each proxy adds its element on the right, so the leftmost of exactly `hops`
 * elements is what the outermost trusted proxy saw: the client. Its certificate is taken from Cert, or is the first of
 * Chain; Hash, when sent, must be its thumbprint. Envoy leaves URI text bare, so a name in a certificate can add keys:
 * text is believed only with `text_identity`.
 */
export function readXfcc(text: string, hops: number, text_identity: boolean): Evidence | Fault {
  const elements = parseXfcc(text);
  if (elements instanceof Fault) return elements;
  const element = elements[0];
  if (element === undefined || elements.length !== hops)
    return malformed(`The header has ${elements.length} elements; exactly ${hops} expected.`);
  return readElement(element, text_identity);
}

function readElement(element: XfccElement, text_identity: boolean): Evidence | Fault {
  for (const key of ['cert', 'chain', 'hash', 'subject']) {
    if ((element.get(key)?.length ?? 0) > 1) return malformed(`The header has ${key} twice in one element.`);
  }
  const hash = element.get('hash')?.[0]?.toLowerCase();
  const chain = readChain(element.get('cert')?.[0], element.get('chain')?.[0]);
  if (chain instanceof Fault) return chain;
  if (chain !== undefined) {
    if (hash !== undefined && hash !== thumbprint(chain[0])) return malformed('Hash is not the thumbprint of Cert.');
    return { kind: 'chain', chain };
  }
  if (!text_identity) return malformed('The header has no Cert; let the proxy send it (set_current_client_cert_details: cert).');
  if (hash === undefined || !/^[0-9a-f]{64}$/.test(hash)) return malformed('The header has neither Cert nor a SHA-256 Hash.');
  return readText(element, hash);
}

/** Cert when it was sent, else Chain, whose first certificate is the same one. */
function readChain(cert: string | undefined, chain: string | undefined): CertificateChain | undefined | Fault {
  if (cert === undefined && chain === undefined) return undefined;
  const leaf = cert === undefined ? undefined : single(fromPercentPem(cert));
  const all = chain === undefined ? undefined : fromPercentPem(chain);
  if (leaf instanceof Fault || all === undefined) return leaf;
  if (all instanceof Fault || leaf === undefined) return all;
  return leaf[0].equals(all[0]) ? all : malformed('Cert is not the first certificate of Chain.');
}

function readText(element: XfccElement, sha256: string): Evidence | Fault {
  const sans: San[] = [];
  for (const [key, type] of [
    ['uri', 'uri'],
    ['dns', 'dns'],
  ] as const) {
    for (const value of element.get(key) ?? []) {
      if (/[^!-~]/.test(value)) return malformed(`The header has a ${key.toUpperCase()} with a character outside visible ASCII.`);
      if (value !== '') sans.push({ type, value });
    }
  }
  const subject = element.get('subject')?.[0] ?? '';
  return { kind: 'text', names: { sha256, subject, sans, valid_from_ms: undefined, valid_to_ms: undefined } };
}
