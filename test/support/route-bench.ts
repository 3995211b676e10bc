// The chain of one route, asked directly, and its outcome in one line.

import assert from 'node:assert/strict';
import type { GateDecision } from '../../src/gate.js';
import type { ChainOutcome } from '../../src/gate-chain/chain.js';
import type { JudgedRequest } from '../../src/gate-chain/wait.js';
import { makeHead } from '../../src/testing.js';
import { type Bench, type BenchInit, openBench } from './chain-bench.js';

export const head = makeHead();

export interface RouteBench extends Bench {
  readonly decide: (visit?: JudgedRequest) => ChainOutcome | Promise<ChainOutcome>;
}

/** Opens the chains of one route `/mcp`; `decide` asks its chain about `head`. */
export async function openRouteBench(init: BenchInit): Promise<RouteBench> {
  const made = await openBench(init);
  const chain = made.chains.routes.get('/mcp');
  assert.ok(chain);
  return { ...made, decide: (visit = { abort: undefined }) => chain.decide(head, visit) };
}

/** An outcome as `admit principal`, `refuse status rpc code by gate` or `serve status by gate`. */
export const summary = (outcome: ChainOutcome): string =>
  outcome.kind === 'admit'
    ? `admit ${outcome.identity?.principal ?? 'nobody'}`
    : outcome.kind === 'refuse'
      ? `refuse ${outcome.status} ${outcome.rpc} ${outcome.code} by ${outcome.gate}`
      : `serve ${outcome.status} by ${outcome.gate}`;

/** Decides `decision` and adds `name` to the list each time it is asked. */
export function noted(list: string[], name: string, decision: GateDecision): () => GateDecision {
  return () => {
    list.push(name);
    return decision;
  };
}
