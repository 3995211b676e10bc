import { LRUCache } from 'lru-cache';
import type { Clock, Counter, Log } from 'portcullis/gate';
import { findFault } from './claims.js';
import { type Endpoint, type EndpointAnswer, SourceFailure, withDeadline } from './endpoint.js';
import type { IssuerKeys } from './issuer-keys.js';
import { isJsonObject, type JsonObject, parseDocument } from './json-object.js';
import { parseJws } from './jws.js';
import type { Options } from './options.js';
import { digestOf } from './remembered.js';
import { type Settings, toType } from './settings.js';
import { judgeClaims, type TokenCheck, type VerifiedToken } from './verified-token.js';

const TYPE = 'token-introspection+jwt';

export interface IntrospectionParts {
  readonly config: NonNullable<Options['introspection']>;
  readonly settings: Settings;
  readonly issuer: string;
  /** For signed answers. */
  readonly keys: IssuerKeys;
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: string;
  readonly answers: Counter;
}

const TIMEOUT_MS = 5000;
const MAX_IN_FLIGHT = 256;
const MAX_NEGATIVE = 10_000;
const INACTIVE: TokenCheck = { kind: 'invalid', why: 'The token is not active.' };
const UNAVAILABLE: TokenCheck = { kind: 'unavailable', retry_after_s: 1 };

/**
 * Asks the authorization server whether a token is active (RFC 7662, RFC 9701), once for all requests that bring the same
 * token at the same time. Refusing answers are kept for `negative_cache_s`, apart from good tokens, so that made-up ones
 * displace nothing; active ones say in `use_until_ms` how long they may be used. At most 256 questions are open at once;
 * beyond that, and when the endpoint gives nothing usable within 5 s, the check is `unavailable`.
 */
export class Introspection {
  readonly #parts: IntrospectionParts;
  readonly #authorization: string;
  readonly #open = new Map<string, Promise<TokenCheck>>();
  readonly #refused = new LRUCache<string, { readonly check: TokenCheck; readonly until_ms: number }>({ max: MAX_NEGATIVE });
  #down = false;

  constructor(parts: IntrospectionParts) {
    this.#parts = parts;
    this.#authorization = toBasic(parts.config.client_id, parts.config.client_secret);
  }

  /** `local` is what a JWT said when it was verified here: then only whether it is still active is asked for. */
  async check(token: string, local?: VerifiedToken): Promise<TokenCheck> {
    const digest = digestOf(token);
    const refused = this.#refused.get(digest);
    if (refused !== undefined && refused.until_ms > this.#parts.clock.mono_ms()) return refused.check;
    const open = this.#open.get(digest);
    if (open !== undefined) return open;
    if (this.#open.size >= MAX_IN_FLIGHT) return UNAVAILABLE;
    const question = this.#ask(token, digest, local).finally(() => this.#open.delete(digest));
    this.#open.set(digest, question);
    return question;
  }

  close(): Promise<void> {
    return this.#parts.endpoint.close();
  }

  async #ask(token: string, digest: string, local: VerifiedToken | undefined): Promise<TokenCheck> {
    const { clock, config } = this.#parts;
    try {
      const claims = await this.#read(await withDeadline(clock, TIMEOUT_MS, (signal) => this.#send(token, signal)));
      const active = claims.active === true;
      this.#told(active ? 'active' : 'inactive');
      const check = active ? this.#judge(claims, local) : INACTIVE;
      if (check.kind === 'invalid') this.#refused.set(digest, { check, until_ms: clock.mono_ms() + config.negative_cache_s * 1000 });
      return check;
    } catch (error) {
      this.#failed(error);
      return UNAVAILABLE;
    }
  }

  #send(token: string, signal: AbortSignal): Promise<EndpointAnswer> {
    const { config, endpoint } = this.#parts;
    const headers = { authorization: this.#authorization, 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' }).toString();
    const expects = config.answer === 'jwt' ? 'application/token-introspection+jwt' : 'json';
    return endpoint.ask(config.url, { method: 'POST', headers, body, expects }, signal);
  }

  async #read(answer: EndpointAnswer): Promise<JsonObject> {
    const { issuer, keys, settings, config, clock } = this.#parts;
    const claims = isSignedAnswer(answer.media_type)
      ? await readSignedAnswer(answer.body, { issuer, keys, settings, client_id: config.client_id, now_ms: clock.now_ms() })
      : parseDocument(answer.body);
    if (claims === undefined || typeof claims.active !== 'boolean')
      throw new SourceFailure('malformed', 'the response is not an introspection response');
    return claims;
  }

  #judge(answer: JsonObject, local: VerifiedToken | undefined): TokenCheck {
    const { issuer, config, settings, clock } = this.#parts;
    const now_ms = clock.now_ms();
    const { active: _active, ...rest } = answer;
    const claims = { iss: issuer, ...rest };
    const use_until_ms = now_ms + config.cache_s * 1000;
    const rules = { issuer, exp_required: false, aud_required: local === undefined && config.require_audience, use_until_ms };
    if (local === undefined) return judgeClaims(claims, rules, settings, now_ms);
    const why = findFault(claims, rules, settings, now_ms);
    if (why !== undefined) return { kind: 'invalid', why };
    return { kind: 'verified', token: Object.freeze({ ...local, use_until_ms: Math.min(local.use_until_ms, use_until_ms) }) };
  }

  #told(outcome: string): void {
    const { answers, gate, log } = this.#parts;
    answers.add({ gate, outcome });
    if (this.#down) log.info({}, 'introspection answers again');
    this.#down = false;
  }

  #failed(error: unknown): void {
    const { answers, gate, log } = this.#parts;
    const reason = error instanceof SourceFailure ? error.reason : 'malformed';
    answers.add({ gate, outcome: reason });
    if (!this.#down) {
      const detail = error instanceof Error ? error.message : String(error);
      log.error({ reason, detail }, 'introspection gives nothing usable; its tokens are answered 503');
    }
    this.#down = true;
  }
}

/** HTTP Basic with both parts form-encoded first (RFC 6749 section 2.3.1). */
function toBasic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${toForm(id)}:${toForm(secret)}`).toString('base64')}`;
}

function toForm(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

interface SignedAnswerRules {
  readonly issuer: string;
  readonly keys: IssuerKeys;
  readonly settings: Settings;
  /** Who the answer must be meant for. */
  readonly client_id: string;
  readonly now_ms: number;
}

function isSignedAnswer(media_type: string): boolean {
  return toType(media_type) === TYPE;
}

/** The `token_introspection` member of a signed answer (RFC 9701 section 5) after its type, issuer, audience, time and signature. Throws SourceFailure. */
async function readSignedAnswer(body: Buffer, rules: SignedAnswerRules): Promise<JsonObject> {
  // trim() takes a byte order mark along.
  const jws = parseJws(body.toString('utf8').trim());
  if (jws === undefined) throw new SourceFailure('malformed', 'the signed response is not a signed JWT');
  const { header, claims, compact } = jws;
  const algorithms: readonly string[] = rules.settings.options.algorithms;
  const fault = answerFault(header, claims, algorithms, rules);
  if (fault !== undefined) throw new SourceFailure('malformed', fault);
  const verdict = await rules.keys.verify(compact, header, algorithms);
  if (verdict === 'unavailable') throw new SourceFailure('unreachable', 'the keys for the signed answer are out of reach');
  if (verdict === 'wrong') throw new SourceFailure('malformed', 'the signature of the answer is wrong');
  return claims.token_introspection as JsonObject;
}

function answerFault(header: JsonObject, claims: JsonObject, algorithms: readonly string[], rules: SignedAnswerRules): string | undefined {
  if (typeof header.typ !== 'string' || toType(header.typ) !== TYPE) return `the typ of the signed answer is not ${TYPE}`;
  if (!algorithms.includes(header.alg as string) || Object.hasOwn(header, 'crit'))
    return 'the signed answer uses an algorithm that is not accepted';
  if (claims.iss !== rules.issuer) return 'the signed answer is from another issuer';
  if (![claims.aud].flat().includes(rules.client_id)) return 'the signed answer is meant for another client';
  const latest_s = rules.now_ms / 1000 + rules.settings.options.clock_tolerance_s;
  if (typeof claims.iat !== 'number' || claims.iat > latest_s) return 'the signed answer has no usable iat';
  return isJsonObject(claims.token_introspection) ? undefined : 'the signed answer has no token_introspection';
}
