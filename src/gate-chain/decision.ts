import type { GateDecision, RefuseStatus } from '../contract/gate.js';
import type { Facts } from '../contract/identity.js';
import { checkFacts } from './facts.js';
import { DecisionFault } from './fault.js';
import { checkHeaders } from './headers.js';
import type { Claimed } from './identity.js';
import { Scopes } from './scopes.js';

/** Characters of a refusal's message, of a principal, an issuer and a client name. */
export const MAX_TEXT_CHARS = 1_024;
/** Characters of a served body. */
export const MAX_SERVED_CHARS = 1_048_576;

/** A decision as the chain uses it. */
export type Checked =
  | { readonly kind: 'pass'; readonly facts: Facts | undefined }
  | { readonly kind: 'identify'; readonly identity: Claimed; readonly facts: Facts | undefined }
  | Extract<GateDecision, { readonly kind: 'refuse' | 'serve' }>;

/**
 * What a gate returned, as a decision of our own making: each property is read once and copied, so what was checked is
 * what is used. Throws DecisionFault for everything that is not a decision.
 */
export function checkDecision(value: unknown, provides: ReadonlySet<string> | undefined): Checked {
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

const PASS: Checked = Object.freeze({ kind: 'pass', facts: undefined });

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

function checkRefusal(decision: Readonly<Record<string, unknown>>): Checked {
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

function checkServed(decision: Readonly<Record<string, unknown>>): Checked {
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
