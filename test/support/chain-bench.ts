// Opens chains of gates that a test writes down as functions.

import type { Telemetry } from '../../src/contract/telemetry.js';
import { type GateDecision, type GateModule, type RequestGate, Type } from '../../src/gate.js';
import type { ChainInput, ChainSet, GateConfig } from '../../src/gate-chain/load.js';
import { openChains } from '../../src/gate-chain/load.js';
import { makeClock, makeLog, makeMetrics, type TestClock, type TestLog } from '../../src/testing.js';

export type Decide = RequestGate['decide'];

/** A module whose gate decides by `decide` and may identify without having said so; further members override. */
export function moduleOf(decide: Decide, more: Partial<GateModule> = {}, gate: Partial<RequestGate> = {}): GateModule {
  return { name: 'test', contract: 1, options: Type.Object({}), identifies: () => undefined, open: () => ({ decide, ...gate }), ...more };
}

export interface Bench {
  readonly chains: ChainSet;
  readonly clock: TestClock;
  readonly log: TestLog;
  /** `route gate verdict code` of each decision, in order. */
  readonly told: readonly string[];
  readonly seconds: readonly number[];
}

export interface BenchInit {
  readonly modules: Readonly<Record<string, GateModule>>;
  /** Gates of the route `/mcp`, in order; default: all modules. */
  readonly route?: readonly string[];
  readonly listener?: readonly string[];
  readonly public?: boolean;
  readonly gates?: Readonly<Record<string, GateConfig>>;
}

/** The config of a bench: each module is a built-in and a gate of its own name. */
export function inputOf(init: BenchInit): ChainInput {
  const names = Object.keys(init.modules);
  const listener_gates = init.listener ?? [];
  const gates = init.route ?? names.filter((name) => !listener_gates.includes(name));
  return {
    gates: init.gates ?? Object.fromEntries(names.map((name) => [name, { use: name }])),
    listener_gates,
    routes: [{ path: '/mcp', url: 'https://mcp.example.com/mcp', runtime: 'main', gates, public: init.public ?? false }],
    gate_timeout_ms: 10_000,
    public_url: 'https://mcp.example.com',
  };
}

/** Opens the chains of one route `/mcp`. The caller closes `chains`. */
export async function openBench(init: BenchInit): Promise<Bench> {
  const clock = makeClock();
  const log = makeLog();
  const told: string[] = [];
  const seconds: number[] = [];
  const telemetry = {
    gateDecided: (route: string, gate: string, verdict: string, code: string, took: number) => {
      told.push(`${route} ${gate} ${verdict} ${code}`.trim());
      seconds.push(took);
    },
  } as unknown as Telemetry;
  const deps = { builtins: init.modules, log, metrics: makeMetrics(), telemetry, clock, signal: new AbortController().signal, folder: '.' };
  return { chains: await openChains(inputOf(init), deps), clock, log, told, seconds };
}

export const pass: GateDecision = { kind: 'pass' };

/** An identify decision for a principal of the issuer `test`. */
export const identify = (principal: string): GateDecision => ({
  kind: 'identify',
  identity: { principal, issuer: 'test', scopes: new Set(['read']) },
});
