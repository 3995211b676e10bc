// The two tables of every gate: what its options may be, and what it decides.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GateContext, GateDecision, GateModule, TSchema } from '../../src/gate.js';
import { type HeadInit, makeContext, makeHead, makeHost, openGate, type TestHost } from '../../src/testing.js';

/** `expected` is undefined for options that open, else the whole text of what the operator reads. */
export type ConfigRow = readonly [name: string, options: unknown, expected: string | undefined];

/** One test for each row of options. */
export function configTable<S extends TSchema>(module: GateModule<S>, rows: readonly ConfigRow[], host: () => TestHost = makeHost): void {
  describe(`${module.name}: options`, () => {
    for (const [name, options, expected] of rows) {
      test(name, async () => {
        let found: string | undefined;
        try {
          await (await openGate(module, options, host())).close?.();
        } catch (error) {
          found = (error as Error).message;
        }
        assert.equal(found, expected);
      });
    }
  });
}

/** `expected` is `pass`, `issuer#principal`, or `status CODE`. */
export type DecisionRow = readonly [name: string, options: unknown, head: HeadInit, context: Partial<GateContext>, expected: string];

/** One test for each head and context. */
export function decisionTable<S extends TSchema>(
  module: GateModule<S>,
  rows: readonly DecisionRow[],
  host: () => TestHost = makeHost,
): void {
  describe(`${module.name}: decisions`, () => {
    for (const [name, options, head, context, expected] of rows) {
      test(name, async () => {
        const gate = await openGate(module, options, host());
        try {
          assert.equal(brief(await gate.decide(makeHead(head), makeContext(context))), expected);
        } finally {
          await gate.close?.();
        }
      });
    }
  });
}

/** A decision in one line. */
export function brief(decision: GateDecision | undefined): string {
  if (decision === undefined) return 'nothing';
  if (decision.kind === 'identify') return `${decision.identity.issuer}#${decision.identity.principal}`;
  if (decision.kind === 'refuse') return `${decision.status} ${decision.code}`;
  return decision.kind;
}
