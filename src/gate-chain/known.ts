import type { GateDecision } from '../contract/gate.js';
import type { Identity } from '../contract/identity.js';
import type { Checked } from './decision.js';
import { NO_FACTS } from './facts.js';
import { toIdentity } from './identity.js';

type Identify = Extract<Checked, { readonly kind: 'identify' }>;

/** A decision that was checked before, and the identity that it makes when no earlier gate wrote facts. */
export interface Known {
  readonly decision: Identify;
  readonly identity: Identity;
}

interface Entry extends Known {
  readonly provides: ReadonlySet<string> | undefined;
  /** The gate's own set, which it may still change. */
  readonly scopes: ReadonlySet<unknown>;
}

const ENTRIES = new WeakMap<object, Entry>();

/**
 * What checking this very decision came to before; undefined when it was not checked, or may have changed since. A gate that
 * remembers a caller returns one frozen decision for all its requests: it is copied and frozen once, not each time.
 */
export function recall(answer: unknown, provides: ReadonlySet<string> | undefined): Known | undefined {
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
