import type { GateDecision } from 'portcullis/gate';
import { type Certificate, type ClientNames, type Evidence, readCertificate } from './certificate.js';
import { checkLinks, checkPath, type Window } from './chain.js';
import { Fault } from './codes.js';
import type { MtlsOptions } from './options.js';
import { readSpiffeId } from './spiffe.js';

/** Characters of a principal; a longer name is refused, never cut. */
const MAX_PRINCIPAL_CHARS = 1_024;

/** All that is decided about one certificate but the time: good between the two instants. */
export interface Verdict extends Window {
  readonly decision: GateDecision;
}

/** Judges what a source decoded. `anchors` is given when the chain was not verified by the terminator. */
export type Judge = (evidence: Evidence, anchors: readonly Certificate[] | undefined) => Verdict | Fault;

/** Builds the judge of one gate: names, SPIFFE ID, allowlists, principal. */
export function createJudge(options: MtlsOptions): Judge {
  const domains = trustDomains(options);
  const wants_spiffe = domains.size > 0;
  const isAllowed = createAllow(options.allow);
  const kind = options.principal ?? (wants_spiffe ? 'spiffe_id' : 'subject');
  return (evidence, anchors) => {
    const found = evidence.kind === 'chain' ? readChain(evidence.chain, anchors) : { names: evidence.names, window: ALWAYS, issues: false };
    if (found instanceof Fault) return found;
    const { names, window } = found;
    if (wants_spiffe && found.issues) return new Fault('CLIENT_CERTIFICATE_NOT_ALLOWED', 'It is a CA certificate; a workload is expected.');
    const spiffe_id = wants_spiffe ? readSpiffeId(names.sans, domains) : undefined;
    if (spiffe_id instanceof Fault) return spiffe_id;
    if (!isAllowed(names, spiffe_id)) return new Fault('CLIENT_CERTIFICATE_NOT_ALLOWED', 'The allow lists do not have it.');
    const principal = readPrincipal(kind, names, spiffe_id);
    if (principal instanceof Fault) return principal;
    return { ...window, decision: toDecision(principal, names, spiffe_id, window) };
  };
}

const ALWAYS: Window = { valid_from_ms: Number.NEGATIVE_INFINITY, valid_to_ms: Number.POSITIVE_INFINITY };

/** A SPIFFE ID that is allowed by name brings its trust domain with it. */
function trustDomains(options: MtlsOptions): ReadonlySet<string> {
  return new Set([...options.spiffe_trust_domains, ...options.allow.spiffe_ids.map((id) => id.split('/')[2] ?? '')]);
}

interface Found {
  readonly names: ClientNames;
  readonly window: Window;
  /** True for a CA certificate that another CA issued: never a workload (X509-SVID section 5.2). */
  readonly issues: boolean;
}

function readChain(ders: readonly Buffer[], anchors: readonly Certificate[] | undefined): Found | Fault {
  const chain: Certificate[] = [];
  for (const der of ders) {
    const certificate = readCertificate(der);
    if (certificate instanceof Fault) return certificate;
    chain.push(certificate);
  }
  const names = chain[0] as Certificate;
  const fault = checkLinks(chain);
  if (fault !== undefined) return fault;
  const window = anchors === undefined ? names : checkPath(chain, anchors);
  if (window instanceof Fault) return window;
  const { valid_from_ms, valid_to_ms } = window;
  return { names, window: { valid_from_ms, valid_to_ms }, issues: names.x509.ca && names.x509.issuer !== names.x509.subject };
}

function toDecision(principal: string, names: ClientNames, spiffe_id: string | undefined, window: Window): GateDecision {
  const certificate = {
    sha256: names.sha256,
    subject: names.subject,
    sans: Object.freeze(names.sans.map((san) => Object.freeze({ type: san.type, value: san.value }))),
    ...(spiffe_id === undefined ? undefined : { spiffe_id }),
    ...(names.valid_to_ms === undefined ? undefined : { not_after: new Date(names.valid_to_ms).toISOString() }),
  };
  const identity = {
    principal,
    issuer: 'mtls',
    scopes: NO_SCOPES,
    ...(spiffe_id === undefined ? undefined : { client: spiffe_id }),
    ...(Number.isFinite(window.valid_to_ms) ? { expires_at_ms: window.valid_to_ms } : undefined),
  };
  return Object.freeze({
    kind: 'identify',
    identity: Object.freeze(identity),
    facts: Object.freeze({ certificate: Object.freeze(certificate) }),
  });
}

const NO_SCOPES: ReadonlySet<string> = new Set();

/**
 * Says whether a certificate's names are allowed. A list that is empty asks nothing; each list that is not must hold one
 * of the names; so lists are "or", kinds are "and".
 */
function createAllow(allow: MtlsOptions['allow']): (names: ClientNames, spiffe_id: string | undefined) => boolean {
  const ids = new Set(allow.spiffe_ids.filter((id) => !id.endsWith('/*')));
  const below = allow.spiffe_ids.filter((id) => id.endsWith('/*')).map((id) => id.slice(0, -1));
  const dns = new Set(allow.dns_sans.map((name) => name.toLowerCase()));
  const subjects = new Set(allow.subjects);
  const sha256 = new Set(allow.sha256.map((hex) => hex.replaceAll(':', '').toLowerCase()));
  const asks_spiffe = allow.spiffe_ids.length > 0;
  return (names, spiffe_id) => {
    if (asks_spiffe && !(spiffe_id !== undefined && (ids.has(spiffe_id) || below.some((prefix) => spiffe_id.startsWith(prefix)))))
      return false;
    if (dns.size > 0 && !names.sans.some((san) => san.type === 'dns' && dns.has(san.value.toLowerCase()))) return false;
    if (subjects.size > 0 && !subjects.has(names.subject)) return false;
    return sha256.size === 0 || sha256.has(names.sha256);
  };
}

type PrincipalKind = NonNullable<MtlsOptions['principal']>;

/** The name that identifies the caller. A certificate without it, or with several that could be it, is refused. */
function readPrincipal(kind: PrincipalKind, names: ClientNames, spiffe_id: string | undefined): string | Fault {
  const name = pick(kind, names, spiffe_id);
  if (name === undefined || name === '')
    return new Fault('CLIENT_CERTIFICATE_NOT_ALLOWED', `It does not have exactly one ${kind} to be known by.`);
  if (name.length > MAX_PRINCIPAL_CHARS)
    return new Fault('CLIENT_CERTIFICATE_NOT_ALLOWED', `Its ${kind} is longer than ${MAX_PRINCIPAL_CHARS} characters.`);
  return name;
}

function pick(kind: PrincipalKind, names: ClientNames, spiffe_id: string | undefined): string | undefined {
  if (kind === 'spiffe_id') return spiffe_id;
  if (kind === 'subject') return names.subject;
  if (kind === 'sha256') return names.sha256;
  const dns = names.sans.filter((san) => san.type === 'dns');
  return dns.length === 1 ? dns[0]?.value.toLowerCase() : undefined;
}
