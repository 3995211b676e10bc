import type { Facts } from '../contract/identity.js';
import { DecisionFault } from './fault.js';

/** No facts. */
export const NO_FACTS: Facts = Object.freeze({});

/** Values that one decision's facts may hold in all, nested ones included, and how deep they may nest. */
export const MAX_FACT_VALUES = 10_000;
export const MAX_FACT_DEPTH = 32;

/**
 * A gate's facts, checked and frozen all the way down: a plain object of JSON values, only with keys that the gate
 * `provides` where it says so. Values that are frozen already are taken as they are, so that a gate can hand out what it
 * remembers at no cost. Throws DecisionFault.
 */
export function checkFacts(value: unknown, provides: ReadonlySet<string> | undefined): Facts | undefined {
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
