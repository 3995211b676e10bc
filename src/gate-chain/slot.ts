import type { GateModule, RequestGate, RouteInfo } from '../contract/gate.js';
import type { Identifies } from './rules.js';

/** One opened gate at its place in one chain. */
export interface Slot {
  /** Config name of the gate. */
  readonly name: string;
  readonly gate: RequestGate;
  readonly route: RouteInfo;
  readonly timeout_ms: number;
  /** The only facts the gate may write; undefined: any. */
  readonly provides: ReadonlySet<string> | undefined;
  readonly identifies: Identifies;
  /** The module says that it finds out who calls, and at its place that counts. */
  readonly knows_caller: boolean;
  /** True for an allowlist. */
  readonly authorizes: boolean;
  /** The label under which a refusal code is counted: the code itself while the set of them is small, else `other`. */
  codeLabel(code: string): string;
}

/** Refusal codes of one gate that are counted by name when its module lists none. */
export const MAX_CODE_LABELS = 32;

/** Counts refusal codes under their names if the module lists them or, where it lists none, for the first 32. */
export function codeLabels(module: GateModule): (code: string) => string {
  const listed = module.codes === undefined ? undefined : new Set(Object.keys(module.codes));
  if (listed !== undefined) return (code) => (listed.has(code) ? code : 'other');
  const seen = new Set<string>();
  return (code) => {
    if (seen.has(code)) return code;
    if (seen.size >= MAX_CODE_LABELS) return 'other';
    seen.add(code);
    return code;
  };
}
