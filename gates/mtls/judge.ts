import type { GateDecision } from 'portcullis/gate';
import { createAllow } from './allow.js';
import { type Certificate, type ClientNames, readCertificate } from './certificate.js';
import { checkLinks, checkPath, type Window } from './chain.js';
import { Fault } from './fault.js';
import type { MtlsOptions } from './options.js';
import { readPrincipal } from './principal.js';
import type { Evidence } from './sources/source.js';
import { readSpiffeId } from './spiffe.js';

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
