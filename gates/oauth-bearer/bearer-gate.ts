import type { CallSummary, GateContext, GateDecision, GateHost, RequestGate, RequestHead } from 'portcullis/gate';
import { showsCertificate } from './certificate-binding.js';
import { type Challenges, createChallenges } from './challenge.js';
import { readCredential, type Scheme } from './credential.js';
import { createJwtVerifier, type JwtVerifier } from './jwt-verifier.js';
import { openKeyring } from './keyring.js';
import { createResourceMetadata, type ResourceMetadata } from './metadata.js';
import type { Options } from './options.js';
import { createRemembered, digestOf, type Remembered } from './remembered.js';
import { createScopeRules, type ScopeRules } from './scope-rules.js';
import { type Settings, toSettings } from './settings.js';
import type { VerifiedToken } from './verified-token.js';

/** Opens the gate. Throws when options contradict each other; never waits for an authorization server. */
export function createBearerGate(options: Options, host: GateHost): RequestGate {
  const settings = toSettings(options, host.route);
  const metadata = createResourceMetadata(settings, host.route);
  const verify = createJwtVerifier(settings, openKeyring(settings, host), host.clock);
  return new BearerGate({
    settings,
    metadata,
    challenges: createChallenges(metadata.url, options.dpop_algorithms, options.dpop === 'require'),
    scopesOf: createScopeRules(options),
    remembered: createRemembered(options.remembered_tokens),
    verify,
    now_ms: () => host.clock.now_ms(),
  });
}

interface Parts {
  readonly settings: Settings;
  readonly metadata: ResourceMetadata;
  readonly challenges: Challenges;
  readonly scopesOf: ScopeRules;
  readonly remembered: Remembered;
  readonly verify: JwtVerifier;
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

class BearerGate implements RequestGate {
  readonly serves: readonly string[];
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.serves = parts.metadata.paths;
  }

  /** Answers at once, without a promise, for a remembered token and for everything that is refused by its syntax. */
  decide(head: RequestHead, context: GateContext): GateDecision | Promise<GateDecision> {
    const { metadata, challenges, scopesOf, remembered, settings, now_ms } = this.#parts;
    if (this.serves.includes(head.path)) return metadata.serve(head);
    const needed = scopesOf(head.claims.method, head.claims.name);
    const credential = readCredential(head, settings.options.dpop !== 'off');
    if (credential.kind === 'none') return challenges.required(needed);
    if (credential.kind === 'malformed') return challenges.malformed(credential.why, needed);
    const { scheme, token } = credential;
    if (token.length > settings.options.max_token_bytes) return challenges.invalid(scheme, 'The token is too long.', needed);
    const presented: Presented = { head, context, scheme, token, needed };
    const digest = digestOf(token);
    const known = remembered.get(digest, now_ms());
    return known === undefined ? this.#check(presented, digest) : this.#admit(known, presented);
  }

  /** Legacy-era calls name their tool in the body only: their `tool_scopes` are judged here. */
  decideCall(call: CallSummary, head: RequestHead, context: GateContext): GateDecision {
    const { scopesOf, challenges, settings } = this.#parts;
    const needed = scopesOf(call.method, call.name);
    const credential = readCredential(head, settings.options.dpop !== 'off');
    if (context.identity === undefined || credential.kind !== 'token') return challenges.required(needed);
    return lacks(context.identity.scopes, needed) ? challenges.insufficient(credential.scheme, needed) : { kind: 'pass' };
  }

  async #check(presented: Presented, digest: string): Promise<GateDecision> {
    const { challenges, remembered, now_ms } = this.#parts;
    const check = await this.#parts.verify(presented.token);
    if (check.kind === 'unavailable') return challenges.unavailable(check.retry_after_s);
    if (check.kind === 'invalid') return challenges.invalid(presented.scheme, check.why, presented.needed);
    remembered.set(digest, check.token, now_ms(), presented.token.length);
    return this.#admit(check.token, presented);
  }

  #admit(token: VerifiedToken, presented: Presented): GateDecision | Promise<GateDecision> {
    const { challenges, settings } = this.#parts;
    const { scheme, needed, head, context } = presented;
    const { certificate_bound, certificate_from } = settings.options;
    const { certificate } = token.binding;
    if (certificate === undefined ? certificate_bound === 'require' : !showsCertificate(certificate, certificate_from, head, context))
      return challenges.invalid(scheme, 'The token is not bound to the certificate of this connection.', needed);
    if (token.binding.key !== undefined) return challenges.invalid(scheme, 'The token is bound to a key.', needed);
    return lacks(token.scopes, needed) ? challenges.insufficient(scheme, needed) : token.decision;
  }
}

function lacks(scopes: ReadonlySet<string>, needed: readonly string[]): boolean {
  return needed.some((scope) => !scopes.has(scope));
}
