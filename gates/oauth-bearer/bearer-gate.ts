import { hash } from 'node:crypto';
import type { CallSummary, GateContext, GateDecision, GateHost, RequestGate, RequestHead } from 'portcullis/gate';
import { type Challenges, createChallenges } from './challenge.js';
import { isToken, NOT_ONE_TOKEN, readCredential, type Scheme } from './credential.js';
import { createProofChecker, type ProofChecker } from './dpop-proof.js';
import { isJsonObject } from './json-object.js';
import { createResourceMetadata, type ResourceMetadata } from './metadata.js';
import type { Options } from './options.js';
import { createRemembered, digestOf, type Remembered } from './remembered.js';
import { createScopeRules, type ScopeRules } from './scope-rules.js';
import { type Settings, toSettings } from './settings.js';
import { openTokenChecker, type TokenChecker } from './token-check.js';
import type { VerifiedToken } from './verified-token.js';

/** Opens the gate. Throws when options contradict each other; never waits for an authorization server. */
export function createBearerGate(options: Options, host: GateHost): RequestGate {
  const settings = toSettings(options, host.route);
  const metadata = createResourceMetadata(settings, host.route);
  const bearer = new BearerGate({
    settings,
    metadata,
    challenges: createChallenges(metadata.url, options.dpop_algorithms, options.dpop === 'require', settings.first_scopes),
    scopesOf: createScopeRules(options),
    remembered: createRemembered(options.remembered_tokens),
    prove: createProofChecker(options, host.route, host.clock),
    checker: openTokenChecker(settings, host),
    now_ms: () => host.clock.now_ms(),
  });
  const gate: RequestGate = {
    serves: metadata.paths,
    serves_if_alone: metadata.paths_if_alone,
    decide: (head, context) => bearer.decide(head, context),
    close: () => bearer.close(),
  };
  // Who has a second look is asked for every legacy call.
  if (Object.keys(options.tool_scopes).length === 0) return gate;
  return { ...gate, decideCall: (call, head, context) => bearer.decideCall(call, head, context) };
}

interface Parts {
  readonly settings: Settings;
  readonly metadata: ResourceMetadata;
  readonly challenges: Challenges;
  readonly scopesOf: ScopeRules;
  readonly remembered: Remembered;
  readonly prove: ProofChecker;
  readonly checker: TokenChecker;
  now_ms(): number;
}

/** A request as far as it was read: what it presents and the scopes it needs. */
interface Presented {
  readonly head: RequestHead;
  readonly context: GateContext;
  readonly scheme: Scheme;
  readonly token: string;
  readonly needed: readonly string[];
}

class BearerGate {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Answers at once, without a promise, for a remembered token and for everything that is refused by its syntax. */
  decide(head: RequestHead, context: GateContext): GateDecision | Promise<GateDecision> {
    const { metadata, challenges, scopesOf, remembered, settings, now_ms } = this.#parts;
    if (metadata.isAt(head.path)) return metadata.serve(head);
    const needed = scopesOf(head.claims.method, head.claims.name);
    const credential = readCredential(head, settings.options.dpop !== 'off');
    if (credential.kind === 'none') return challenges.required(needed);
    if (credential.kind === 'malformed') return challenges.malformed(credential.why, needed);
    const { scheme, token } = credential;
    if (token.length > settings.options.max_token_bytes) return challenges.tooLong('token');
    if (scheme === 'Bearer' && settings.options.dpop === 'require') return challenges.proof(UNPROVEN, needed);
    const presented: Presented = { head, context, scheme, token, needed };
    const digest = digestOf(token);
    const known = remembered.get(digest, now_ms());
    if (known !== undefined) return this.#admit(known, presented);
    return isToken(token) ? this.#check(presented, digest) : challenges.malformed(NOT_ONE_TOKEN, needed);
  }

  /** Legacy-era calls name their tool in the body only: their `tool_scopes` are judged here. */
  decideCall(call: CallSummary, head: RequestHead, context: GateContext): GateDecision {
    const { scopesOf, challenges, settings } = this.#parts;
    const needed = scopesOf(call.method, call.name);
    const credential = readCredential(head, settings.options.dpop !== 'off');
    if (context.identity === undefined || credential.kind !== 'token') return challenges.required(needed);
    return this.#missing(context.identity.scopes, credential.scheme, needed) ?? { kind: 'pass' };
  }

  close(): Promise<void> {
    return this.#parts.checker.close();
  }

  async #check(presented: Presented, digest: string): Promise<GateDecision> {
    const { challenges, remembered, now_ms } = this.#parts;
    const check = await this.#parts.checker.check(presented.token);
    if (check.kind === 'unavailable') return challenges.unavailable(check.retry_after_s);
    if (check.kind === 'invalid') return challenges.invalid(presented.scheme, check.why, presented.needed);
    remembered.set(digest, check.token, now_ms(), presented.token.length);
    return this.#admit(check.token, presented);
  }

  #admit(token: VerifiedToken, presented: Presented): GateDecision | Promise<GateDecision> {
    const { challenges, settings } = this.#parts;
    const { scheme, needed, head, context } = presented;
    const { certificate_bound, certificate_from, dpop } = settings.options;
    const { certificate, key } = token.binding;
    if (certificate === undefined ? certificate_bound === 'require' : !showsCertificate(certificate, certificate_from, head, context))
      return challenges.invalid(scheme, 'The token is not bound to the certificate of this caller.', needed);
    if (key === undefined)
      return scheme === 'Bearer' ? this.#scoped(token, presented) : challenges.invalid(scheme, 'The token is not bound to a key.', needed);
    if (scheme === 'DPoP') return this.#proven(token, key, presented);
    return dpop === 'off' ? challenges.invalid(scheme, 'The token is bound to a key.', needed) : challenges.proof(UNPROVEN, needed);
  }

  async #proven(token: VerifiedToken, key: string, presented: Presented): Promise<GateDecision> {
    const { challenges, prove } = this.#parts;
    const proof = await prove(presented.head, presented.token, key);
    if (proof.kind === 'good') return this.#scoped(token, presented);
    if (proof.kind === 'wrong') return challenges.proof(proof.why, presented.needed);
    if (proof.kind === 'long') return challenges.tooLong('proof');
    return proof.kind === 'nonce' ? challenges.nonce(proof.nonce, presented.needed) : challenges.unavailable(1);
  }

  #scoped(token: VerifiedToken, { scheme, needed }: Presented): GateDecision {
    return this.#missing(token.scopes, scheme, needed) ?? token.decision;
  }

  #missing(scopes: ReadonlySet<string>, scheme: Scheme, needed: readonly string[]): GateDecision | undefined {
    if (!lacks(scopes, needed)) return undefined;
    const { challenges, settings } = this.#parts;
    return challenges.insufficient(scheme, needed, lacks(scopes, settings.options.required_scopes) ? 'caller' : 'call');
  }
}

const UNPROVEN = 'Send the token with the DPoP scheme and a DPoP proof.';

function lacks(scopes: ReadonlySet<string>, needed: readonly string[]): boolean {
  return needed.some((scope) => !scopes.has(scope));
}

/** True if the caller showed the certificate whose `x5t#S256` the token carries (RFC 8705 section 3.1). */
function showsCertificate(thumbprint: string, from: Options['certificate_from'], head: RequestHead, context: GateContext): boolean {
  return thumbprint === shownThumbprint(from, head, context);
}

/** Base64url SHA-256 of the caller’s certificate. A gate’s fact goes before the connection, whose other end may be a proxy. */
function shownThumbprint(from: Options['certificate_from'], head: RequestHead, context: GateContext): string | undefined {
  const fact = context.facts.certificate;
  if (from !== 'connection' && fact !== undefined) return isJsonObject(fact) ? fromHex(fact.sha256) : undefined;
  const der = head.peer.tls?.certificate;
  if (from === 'gate' || der === undefined) return undefined;
  return hash('sha256', der, 'base64url');
}

function fromHex(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? Buffer.from(value, 'hex').toString('base64url') : undefined;
}
