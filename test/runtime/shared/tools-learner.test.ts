import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createToolsLearner, LEARN_BYTES } from '../../../src/runtime/shared/tools-learner.js';
import { makeClock, makeLog } from '../../../src/testing.js';
import { createRatedLog } from '../../../src/transport/rated-log.js';
import { createTold } from '../../support/proxied-bench.js';

describe('tools learner', () => {
  const list = (...tools: unknown[]): Buffer => Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } }));

  it('learns names of a bounded count and length, and nothing from what is no list', () => {
    const told = createTold();
    const learner = createToolsLearner(told.telemetry, makeClock());
    learner.learn('/a', list({ name: 'read' }, { name: '' }, { name: 'x'.repeat(129) }, { title: 'no' }, null, 7, { name: 'write' }));
    for (const text of ['', '{', 'null', '[]', '{"result":null}', '{"result":{"tools":{}}}']) learner.learn('/a', Buffer.from(text));
    learner.learn('/a', Buffer.concat([list({ name: 'late' }), Buffer.alloc(LEARN_BYTES, ' ')]));
    assert.deepEqual(told.lines, ['tools /a read,write']);
    learner.learn('/b', list(...Array.from({ length: 300 }, (_, index) => ({ name: `t${index}` }))));
    assert.equal(told.lines[1]?.split(',').length, 200);
  });

  it('parses at most 20 answers a route in ten seconds', () => {
    const told = createTold();
    const clock = makeClock();
    const learner = createToolsLearner(told.telemetry, clock);
    for (let i = 0; i < 30; i++) learner.learn('/a', list({ name: `t${i}` }));
    learner.learn('/b', list({ name: 'other' }));
    assert.equal(told.lines.length, 21);
    clock.advance(10_000);
    learner.learn('/a', list({ name: 'again' }));
    assert.equal(told.lines.at(-1), 'tools /a again');
  });
});

describe('rated log', () => {
  it('writes a burst, counts the rest and says how many', () => {
    const log = makeLog();
    const clock = makeClock();
    const rated = createRatedLog(log, clock, 2, 1000);
    for (let i = 0; i < 5; i++) rated.warn({ i }, 'x');
    clock.advance(1000);
    rated.warn({ i: 5 }, 'x');
    rated.warn({ i: 6 }, 'x');
    assert.deepEqual(
      log.lines.map((line) => line.fields),
      [{ i: 0 }, { i: 1 }, { i: 5, suppressed: 3 }, { i: 6 }],
    );
  });
});
