import type { Config } from '../config/schema/config.js';
import type { Sample } from '../telemetry/catalog.js';
import type { MetricName } from '../telemetry/names.js';

/** Reads one counter or gauge. */
export type Samples = (name: MetricName) => readonly Sample[];

export interface GateStatus {
  readonly name: string;
  readonly use: string;
  /** What it decided since the start. `failed`: it threw, was late or answered nonsense, and the request was refused for it. */
  readonly passed: number;
  readonly refused: number;
  readonly failed: number;
}

/** The signing keys that one gate trusts. */
export interface KeyStatus {
  /** Config name of the gate; with several issuers `name#0`, `name#1`, in the order of the config. */
  readonly gate: string;
  readonly keys: number;
  /** Undefined until they were loaded once. */
  readonly age_s: number | undefined;
  /** True when they are twice as old as `jwks_refresh_s` lets them become. */
  readonly overdue: boolean;
  /** Loads since the start, by outcome. */
  readonly loads: Readonly<Record<string, number>>;
}

export function gatesOf(config: Config, samples: Samples): readonly GateStatus[] {
  const decisions = samples('gate_decisions_total');
  return Object.entries(config.gates).map(([name, { use }]) => {
    const by = tally(decisions, 'decision', 'gate', name);
    const { pass = 0, identify = 0, serve = 0, refuse = 0, timeout = 0, failed = 0 } = by;
    return { name, use, passed: pass + identify + serve, refused: refuse, failed: timeout + failed };
  });
}

export function keysOf(config: Config, samples: Samples): readonly KeyStatus[] {
  const loads = samples('jwks_fetches_total');
  const ages = samples('jwks_age_seconds');
  return samples('jwks_keys').map(({ labels, value: keys }) => {
    const gate = labels.issuer ?? '';
    const age_s = ages.find((sample) => sample.labels.issuer === gate)?.value;
    const options = config.gates[gate.replace(/#\d+$/, '')]?.options as { readonly jwks_refresh_s?: number } | undefined;
    const overdue = age_s !== undefined && age_s > 2 * (options?.jwks_refresh_s ?? REFRESH_S);
    return { gate, keys, age_s, overdue, loads: tally(loads, 'outcome', 'issuer', gate) };
  });
}

/** Adds up the samples whose label `of` is `value`, by another label. */
export function tally(samples: readonly Sample[], by: string, of: string, value: string): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { labels, value: count } of samples) {
    const key = labels[by];
    if (labels[of] === value && key !== undefined) sums[key] = (sums[key] ?? 0) + count;
  }
  return sums;
}

const REFRESH_S = 300;
