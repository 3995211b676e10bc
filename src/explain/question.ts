import { X509Certificate } from 'node:crypto';
import { builtins } from '../../gates/index.js';
import { tlsSettings } from '../assembly/tls.js';
import type { Config } from '../config/schema/config.js';
import type { PeerTls, RemoteAddress, RequestHead } from '../contract/head.js';
import { MODERN } from '../dialect/methods.js';
import { CODES } from '../errors/codes.js';
import { RawHeaders, UNCLAIMED } from '../listener/request/head.js';
import { plainAddress, RemoteAddresses } from '../listener/request/remote-address.js';
import { terminatorHeaders } from './terminator.js';

const MAX_LINKS = 10;

/** The request that is asked about. Secrets in it are used and never shown. */
export interface Question {
  /** Config path of the route, or the whole path a client would dial. */
  readonly path: string;
  /** HTTP method; default POST. */
  readonly http_method?: string | undefined;
  /** MCP method; default `tools/list`, or `tools/call` with a tool. */
  readonly method?: string | undefined;
  readonly tool?: string | undefined;
  /** Protocol revision; default 2026-07-28. */
  readonly revision?: string | undefined;
  readonly token?: string | undefined;
  /** PEM of the client's certificate. */
  readonly certificate?: string | undefined;
  /** The client's address; default 127.0.0.1. */
  readonly address?: string | undefined;
  /** The address of the TCP peer if a proxy stands between; default `address`. */
  readonly via?: string | undefined;
  /** More header fields, name and value as text; sent in UTF-8. One that the client would send anyway takes its place. */
  readonly headers?: readonly (readonly [string, string])[] | undefined;
}

/** MCP method and name of the question, defaults filled. */
export function askedCall({ method, tool }: Question): { readonly method: string; readonly name: string | undefined } {
  return { method: method ?? (tool === undefined ? 'tools/list' : 'tools/call'), name: tool };
}

/** The head that such a client, or the terminator in front of it, would send. */
export function toHead(question: Question, config: Config, now_ms: number): RequestHead {
  const revision = question.revision ?? MODERN;
  const { method, name } = askedCall(question);
  const own = new Set((question.headers ?? []).map(([field]) => field.toLowerCase()));
  const public_host = config.listener.public_url === undefined ? 'localhost' : new URL(config.listener.public_url).host;
  const raw: string[] = [];
  const add = (field: string, value: string): void => void (own.has(field) || raw.push(field, value));
  add('host', public_host);
  add('accept', 'application/json, text/event-stream');
  const http_method = question.http_method ?? 'POST';
  if (http_method === 'POST') {
    add('content-type', 'application/json');
    add('content-length', '2');
  }
  add('mcp-protocol-version', revision);
  if (revision === MODERN) {
    add('mcp-method', method);
    if (name !== undefined) add('mcp-name', toMcpName(name));
  }
  if (question.token !== undefined) raw.push('authorization', `Bearer ${question.token}`);
  if (question.certificate !== undefined) raw.push(...terminatorHeaders(config, question.certificate));
  for (const [field, value] of question.headers ?? []) raw.push(field.toLowerCase(), Buffer.from(value).toString('latin1'));
  return {
    id: 'explain',
    method: http_method,
    path: question.path,
    query: '',
    headers: new RawHeaders(raw),
    peer: toPeer(question, config, now_ms),
    claims: UNCLAIMED,
    received_at_ms: now_ms,
  };
}

function toPeer({ address = '127.0.0.1', via = address, certificate }: Question, config: Config, now_ms: number): RemoteAddress {
  const trusted = new RemoteAddresses(config.listener.trusted_proxies).isTrusted(plainAddress(via));
  return {
    address: plainAddress(via),
    trusted,
    client_address: plainAddress(trusted ? address : via),
    tls: config.listener.tls === undefined ? undefined : toTls(certificate, config, now_ms),
  };
}

/** What the handshake with such a certificate comes to. Without `client_ca_file` none is asked for. */
function toTls(certificate: string | undefined, config: Config, now_ms: number): PeerTls {
  const ca = tlsSettings(config)?.ca;
  if (certificate === undefined || ca === undefined) return { authorized: false, certificate: undefined };
  return { authorized: isAuthorized(certificate, String(ca), now_ms), certificate: new X509Certificate(certificate).raw };
}

/** A name as `Mcp-Name` carries it: plain ASCII as it is, everything else in the base64 form (MCP 2026-07-28, "Value Encoding"). */
function toMcpName(name: string): string {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(name) && !name.startsWith('=?base64?')
    ? name
    : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

/**
 * True when the first certificate of `pem` chains to one of `cas`, over the other certificates of `pem`, and each is valid at `now_ms`:
 * what a TLS handshake with `client_ca_file` comes to.
 */
function isAuthorized(pem: string, cas: string, now_ms: number): boolean {
  const anchors = certificatesOf(cas);
  const [leaf, ...others] = certificatesOf(pem);
  let current = leaf;
  for (let link = 0; current !== undefined && link < MAX_LINKS; link++) {
    const child: X509Certificate = current;
    if (now_ms < Date.parse(child.validFrom) || now_ms > Date.parse(child.validTo)) return false;
    if (anchors.some((anchor) => anchor.raw.equals(child.raw) || isIssuer(anchor, child))) return true;
    current = others.find((other) => other !== child && isIssuer(other, child));
  }
  return false;
}

function isIssuer(issuer: X509Certificate, child: X509Certificate): boolean {
  return child.checkIssued(issuer) && child.verify(issuer.publicKey);
}

function certificatesOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.split(/(?=-----BEGIN CERTIFICATE-----)/).filter((block) => block.startsWith('-----BEGIN'));
  return blocks.map((block) => new X509Certificate(block));
}

/** What a code means, and what the caller can do. */
interface Advice {
  readonly meaning: string;
  readonly remedy: string;
}

/** What the tables of the gateway and of the built-in gates say of a code; empty texts for a code of a third party's gate. */
export function adviceOf(code: string): Advice {
  if (Object.hasOwn(CODES, code)) return CODES[code as keyof typeof CODES];
  for (const module of Object.values(builtins)) {
    const row = module.codes?.[code];
    if (row !== undefined) return row;
  }
  return { meaning: '', remedy: '' };
}
