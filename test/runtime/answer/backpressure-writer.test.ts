import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnswerWriter } from '../../../src/contract/runtime.js';
import { BackpressureWriter } from '../../../src/runtime/answer/backpressure-writer.js';

/** A reader with room for `room` writes at a time. */
function slowReader(room: number) {
  const did: string[] = [];
  let left = room;
  let drained = (): void => {};
  const writer: AnswerWriter = {
    write(bytes) {
      did.push(Buffer.from(bytes).toString());
      left -= 1;
      return left > 0;
    },
    onDrain: (resume) => {
      drained = resume;
    },
    end: (...args) => void did.push(`end ${args.join(' ')}`),
  };
  const source = { resume: () => void did.push('resume') };
  const drain = (): void => {
    left = room;
    drained();
  };
  return { did, drain, patient: new BackpressureWriter(writer, source) };
}

describe('patient writer', () => {
  const bytes = (text: string): Buffer => Buffer.from(text);

  it('writes nothing more after a write that said slow, until the reader has caught up', () => {
    const { did, drain, patient } = slowReader(2);
    for (const text of ['a', 'b', 'c', 'd', 'e']) patient.write(bytes(text));
    assert.deepEqual([did, patient.blocked], [['a', 'b'], true]);
    drain();
    assert.deepEqual([did, patient.blocked], [['a', 'b', 'c', 'd'], true]);
    drain();
    assert.deepEqual([did, patient.blocked], [['a', 'b', 'c', 'd', 'e', 'resume'], false]);
  });

  it('ends behind what waits, at once when nothing does', () => {
    const { did, drain, patient } = slowReader(1);
    patient.write(bytes('a'));
    patient.write(bytes('b'));
    patient.end('source', 'rpc_error', -32602);
    assert.deepEqual(did, ['a']);
    drain();
    assert.deepEqual(did, ['a', 'b']);
    drain();
    assert.deepEqual(did, ['a', 'b', 'end source rpc_error -32602', 'resume']);
    const free = slowReader(1);
    free.patient.write(bytes('a'));
    free.patient.end('error');
    assert.deepEqual(free.did, ['a', 'end error  ']);
  });

  it('a cut drops what waits, writes the last words whatever the reader’s pace, and ends', () => {
    const { did, drain, patient } = slowReader(1);
    for (const text of ['a', 'b', 'c']) patient.write(bytes(text));
    patient.cut(bytes('z'), 'drain');
    assert.deepEqual(did, ['a', 'z', 'end drain']);
    drain();
    assert.deepEqual(did, ['a', 'z', 'end drain', 'resume']);
    const bare = slowReader(1);
    bare.patient.cut(undefined, 'drain');
    assert.deepEqual(bare.did, ['end drain']);
  });
});
