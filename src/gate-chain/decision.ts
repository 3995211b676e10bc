import type { GateDecision, RefuseStatus } from '../contract/gate.js';
import type { Facts, Identity } from '../contract/identity.js';
import { checkHeaders, DecisionFault } from './headers.js';

const ENTRIES = new WeakMap<object, Entry>();

/** No facts. */
export const NO_FACTS: Facts = Object.freeze({});
/** Values that one decision's facts may hold in all, nested ones included, and how deep they may nest. */
const MAX_FACT_VALUES = 10_000;
const MAX_FACT_DEPTH = 32;

/** Scopes one identity may have. */
const MAX_SCOPES = 1_000;

/** Characters of a refusal's message, of a principal, an issuer and a client name. */
export const MAX_TEXT_CHARS = 1_024;
/** Characters of a served body. */
export const MAX_SERVED_CHARS = 1_048_576;

/** A decision as the chain uses it. */
export type CheckedDecision =
  | { readonly kind: 'pass'; readonly facts: Facts | undefined }
  | { readonly kind: 'identify'; readonly identity: Claimed; readonly facts: Facts | undefined }
  | Extract<GateDecision, { readonly kind: 'refuse' | 'serve' }>;

/**
 * A gate's return value as our own decision: each property is read once and copied, so the checked value is
 * what is used. Throws DecisionFault for everything that is not a decision.
 */
export function checkDecision(value: unknown, provides: ReadonlySet<string> | undefined): CheckedDecision {
  if (typeof value !== 'object' || value === null) throw new DecisionFault(`returned ${value === null ? 'null' : typeof value}`);
  const decision = value as Readonly<Record<string, unknown>>;
  const kind = decision.kind;
  if (kind === 'pass') {
    const facts = checkFacts(decision.facts, provides);
    return facts === undefined ? PASS : { kind, facts };
  }
  if (kind === 'identify') {
    const facts = checkFacts(decision.facts, provides);
    return { kind, identity: checkIdentity(decision.identity), facts };
  }
  if (kind === 'refuse') return checkRefusal(decision);
  if (kind === 'serve') return checkServed(decision);
  throw new DecisionFault('kind is none of pass, identify, refuse, serve');
}

const PASS: CheckedDecision = Object.freeze({ kind: 'pass', facts: undefined });

const REFUSE_STATUSES: ReadonlySet<unknown> = new Set<RefuseStatus>([
  400, 401, 403, 404, 405, 406, 411, 413, 415, 421, 429, 431, 500, 502, 503, 504,
]);

function checkIdentity(value: unknown): Claimed {
  if (typeof value !== 'object' || value === null) throw new DecisionFault('identity is not an object');
  const given = value as Readonly<Record<string, unknown>>;
  const client = given.client;
  const expires_at_ms = given.expires_at_ms;
  const scopes = given.scopes;
  if (!(scopes instanceof Set)) throw new DecisionFault('identity.scopes is not a Set');
  if (expires_at_ms !== undefined && (typeof expires_at_ms !== 'number' || !Number.isFinite(expires_at_ms))) {
    throw new DecisionFault('identity.expires_at_ms is not a finite number');
  }
  return {
    principal: checkText(given.principal, 'identity.principal', true),
    issuer: checkText(given.issuer, 'identity.issuer', true),
    scopes: scopes.size === 0 ? Scopes.none : new Scopes(scopes),
    client: client === undefined ? undefined : checkText(client, 'identity.client', true),
    expires_at_ms,
  };
}

function checkRefusal(decision: Readonly<Record<string, unknown>>): CheckedDecision {
  const status = decision.status;
  const code = decision.code;
  const message = decision.message;
  if (!REFUSE_STATUSES.has(status)) throw new DecisionFault('refuse with a status that cannot refuse');
  if (typeof code !== 'string' || !isCode(code)) throw new DecisionFault('code is not upper snake case of 2 to 64 characters');
  const about = decision.about;
  if (about !== undefined && about !== 'caller' && (about !== 'call' || status === 401))
    throw new DecisionFault(about === 'call' ? 'a 401 is about the caller, not about the call' : 'about is neither call nor caller');
  const headers = checkHeaders(decision.headers, 'refuse');
  return {
    kind: 'refuse',
    status: status as RefuseStatus,
    code,
    ...(message === undefined ? undefined : { message: checkText(message, 'message') }),
    ...(headers === undefined ? undefined : { headers }),
    ...(about === undefined ? undefined : { about }),
  };
}

function checkServed(decision: Readonly<Record<string, unknown>>): CheckedDecision {
  const status = decision.status;
  const body = decision.body;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) {
    throw new DecisionFault('serve with a status outside 200 to 599');
  }
  if (typeof body !== 'string' || body.length > MAX_SERVED_CHARS)
    throw new DecisionFault('body is not a string of at most 1 Mi characters');
  if ((status === 204 || status === 205 || status === 304) && body !== '') throw new DecisionFault(`status ${status} has no body`);
  const headers = checkHeaders(decision.headers, 'serve');
  return { kind: 'serve', status, body, ...(headers === undefined ? undefined : { headers }) };
}

/**
 * `name`: no lone surrogate, which UTF-8 cannot hold: names that differ in one alone would be the same bytes in a digest, a seal or
 * a log line.
 */
function checkText(value: unknown, what: string, name = false): string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT_CHARS) {
    throw new DecisionFault(`${what} is not a string of 1 to ${MAX_TEXT_CHARS} characters`);
  }
  let wide = false;
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) throw new DecisionFault(`${what} holds a control character`);
    wide ||= (unit & 0xf800) === 0xd800;
  }
  if (name && wide && /\p{Surrogate}/u.test(value)) throw new DecisionFault(`${what} holds half a character`);
  return value;
}

function isCode(code: string): boolean {
  if (code.length < 2 || code.length > 64) return false;
  for (let i = 0; i < code.length; i += 1) {
    const unit = code.charCodeAt(i);
    const letter = unit >= 0x41 && unit <= 0x5a;
    if (!letter && (i === 0 || (unit !== 0x5f && (unit < 0x30 || unit > 0x39)))) return false;
  }
  return true;
}

/** An immutable set of scopes. */
class Scopes extends Set<string> {
  static readonly none: Scopes = new Scopes([]);

  constructor(names: Iterable<unknown>) {
    super();
    for (const name of names) {
      if (typeof name !== 'string') throw new DecisionFault('a scope is not a string');
      if (this.size === MAX_SCOPES) throw new DecisionFault('there are too many scopes');
      super.add(name);
    }
    Object.freeze(this);
  }

  override add(): never {
    throw new TypeError('the scopes of an identity are frozen');
  }
  override delete(): never {
    throw new TypeError('the scopes of an identity are frozen');
  }
  override clear(): never {
    throw new TypeError('the scopes of an identity are frozen');
  }
}

/**
 * A gate's facts, checked and frozen all the way down: a plain object of JSON values, only with keys that the gate
 * `provides` where it says so. Values that are frozen already are taken as they are, so that a gate can hand out what it
 * remembers at no cost. Throws DecisionFault.
 */
function checkFacts(value: unknown, provides: ReadonlySet<string> | undefined): Facts | undefined {
  if (value === undefined) return undefined;
  if (!isPlain(value)) throw new DecisionFault('facts is not a plain object');
  const copy: Readonly<Record<string, unknown>> = { ...value };
  const budget = { left: MAX_FACT_VALUES };
  for (const key of Object.keys(copy)) {
    if (provides !== undefined && !provides.has(key)) throw new DecisionFault(`fact ${key.slice(0, 64)} is not in the module's provides`);
    freezeJson(copy[key], budget, 1);
  }
  return Object.freeze(copy);
}

/** `later` over `earlier`; both are frozen and so is the answer. */
export function mergeFacts(earlier: Facts, later: Facts | undefined): Facts {
  if (later === undefined) return earlier;
  return earlier === NO_FACTS ? later : Object.freeze({ ...earlier, ...later });
}

function freezeJson(value: unknown, budget: { left: number }, depth: number): void {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined) return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (!Array.isArray(value) && !isPlain(value)) throw new DecisionFault('facts hold something that is not a JSON value');
  if (Object.isFrozen(value)) return;
  budget.left -= 1;
  if (depth > MAX_FACT_DEPTH) throw new DecisionFault('facts nest too deep');
  for (const inner of Object.values(value)) {
    budget.left -= 1;
    if (budget.left < 0) throw new DecisionFault('facts hold too many values');
    freezeJson(inner, budget, depth + 1);
  }
  Object.freeze(value);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** What a gate said about the caller, checked and copied. */
export interface Claimed {
  readonly principal: string;
  readonly issuer: string;
  readonly scopes: ReadonlySet<string>;
  readonly client: string | undefined;
  readonly expires_at_ms: number | undefined;
}

/** The frozen identity of a caller. Written out, as each shape is built on every request: a spread costs a microsecond. */
export function toIdentity({ principal, issuer, scopes, client, expires_at_ms }: Claimed, facts: Facts): Identity {
  if (client === undefined) {
    if (expires_at_ms === undefined) return Object.freeze({ principal, issuer, scopes, facts });
    return Object.freeze({ principal, issuer, scopes, expires_at_ms, facts });
  }
  if (expires_at_ms === undefined) return Object.freeze({ principal, issuer, scopes, client, facts });
  return Object.freeze({ principal, issuer, scopes, client, expires_at_ms, facts });
}

type Identify = Extract<CheckedDecision, { readonly kind: 'identify' }>;

/** A decision that was checked before, and the identity that it makes when no earlier gate wrote facts. */
export interface KnownDecision {
  readonly decision: Identify;
  readonly identity: Identity;
}

interface Entry extends KnownDecision {
  readonly provides: ReadonlySet<string> | undefined;
  /** The gate's own set, which it may still change. */
  readonly scopes: ReadonlySet<unknown>;
}

/**
 * What checking this very decision came to before; undefined when it was not checked, or may have changed since. A gate that
 * remembers a caller returns one frozen decision for all its requests: it is copied and frozen once, not each time.
 */
export function recall(answer: unknown, provides: ReadonlySet<string> | undefined): KnownDecision | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const entry = ENTRIES.get(answer);
  if (entry === undefined || entry.provides !== provides) return undefined;
  return isSame(entry.scopes, entry.decision.identity.scopes) ? entry : undefined;
}

/** Keeps the outcome of a check as long as the gate keeps its decision. Only for decisions that are frozen in all their parts. */
export function remember(answer: unknown, provides: ReadonlySet<string> | undefined, decision: Identify): void {
  const given = answer as Extract<GateDecision, { readonly kind: 'identify' }>;
  if (!isFixed(given) || !isFixed(given.identity) || (given.facts !== undefined && !isFixed(given.facts))) return;
  const identity = toIdentity(decision.identity, decision.facts ?? NO_FACTS);
  ENTRIES.set(given, { provides, scopes: given.identity.scopes, decision, identity });
}

/** Frozen, and nothing in it is computed when it is read. */
function isFixed(value: object): boolean {
  return Object.isFrozen(value) && Object.values(Object.getOwnPropertyDescriptors(value)).every((property) => property.get === undefined);
}

function isSame(given: ReadonlySet<unknown>, copy: ReadonlySet<string>): boolean {
  if (given.size !== copy.size) return false;
  for (const scope of copy) if (!given.has(scope)) return false;
  return true;
}
