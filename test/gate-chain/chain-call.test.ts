import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GateDecision } from '../../src/gate.js';
import type { ChainOutcome } from '../../src/gate-chain/chain.js';
import { identify, moduleOf, openBench, pass } from '../support/chain-bench.js';
import { head, noted, summary } from '../support/route-bench.js';

describe('a call', () => {
  const call = { era: 'legacy', revision: '2025-11-25', method: 'tools/call', name: 'delete' } as const;
  const nobody = { identity: undefined, facts: Object.freeze({}), authorized: true };

  test('is judged by the gates that judge calls, the listener’s first', async () => {
    const asked: string[] = [];
    const judge = (name: string, decision: GateDecision) =>
      moduleOf(() => pass, { authorizes: true }, { decideCall: ({ method }) => noted(asked, `${name} ${method}`, decision)() });
    const { chains } = await openBench({
      modules: {
        front: judge('front', pass),
        plain: moduleOf(() => pass),
        back: judge('back', { kind: 'refuse', status: 403, code: 'NO' }),
      },
      listener: ['front'],
    });
    const chain = chains.routes.get('/mcp');
    assert.equal(chain?.judges_calls, true);
    assert.equal(chain?.size, 2);
    assert.equal(
      summary((await chain?.decideCall(call, head, { abort: undefined }, nobody)) as ChainOutcome),
      'refuse 403 -32600 NO by back',
    );
    assert.deepEqual(asked, ['front tools/call', 'back tools/call']);
  });

  test('may not identify or serve', async () => {
    for (const decision of [identify('x'), { kind: 'serve', status: 200, body: '' } as const]) {
      const { chains, log } = await openBench({
        modules: { a: moduleOf(() => pass, { authorizes: true }, { decideCall: () => decision }) },
      });
      const outcome = await chains.routes.get('/mcp')?.decideCall(call, head, { abort: undefined }, nobody);
      assert.equal(summary(outcome as ChainOutcome), 'refuse 500 -32603 GATE_FAILED by a');
      assert.equal(log.lines[0]?.fields.cause, `decideCall returned ${decision.kind}; it may pass or refuse`);
    }
  });

  test('has nobody to ask without judging gates', async () => {
    const { chains } = await openBench({ modules: { a: moduleOf(() => identify('a')) } });
    const chain = chains.routes.get('/mcp');
    assert.equal(chain?.judges_calls, false);
    assert.equal(summary(chain?.decideCall(call, head, { abort: undefined }, nobody) as ChainOutcome), 'admit nobody');
  });
});
