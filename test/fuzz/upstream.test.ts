import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { answer, Hearing, rawUpstream } from '../support/raw-upstream.js';

const valid = fc.constantFrom(
  answer('hello', 'Keep-Alive: timeout=5\r\n'),
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nT: x\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello',
);
const odd = fc.oneof(
  fc.constantFrom('\0', '\r', '\n', ' ', ':', ';', '\xff', '\r\n\r\n', 'f', '-', 'HTTP/1.1 200 OK\r\n\r\n', ''),
  fc.string({ maxLength: 6 }),
);
const mutated = fc.tuple(valid, fc.array(fc.tuple(fc.nat(110), fc.nat(3), odd), { maxLength: 4 })).map(([text, changes]) => {
  let wire = text;
  for (const [at, drop, put] of changes) wire = wire.slice(0, at) + put + wire.slice(at + drop);
  return Buffer.from(wire, 'latin1');
});
const noise = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

const script = fc.record({
  wire: fc.oneof({ weight: 5, arbitrary: mutated }, { weight: 1, arbitrary: noise }),
  cuts: fc.array(fc.nat(200), { maxLength: 4 }),
  end: fc.constantFrom('end', 'end', 'reset', 'stay'),
  client: fc.constantFrom('reads', 'reads', 'hesitates', 'leaves'),
});

describe('any bytes of an upstream in any pieces, with any end', () => {
  it('each exchange hears one end, in bounded time, nothing is thrown and no connection is left', async () => {
    const thrown: unknown[] = [];
    const onThrown = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', onThrown);
    let current: { wire: Buffer; cuts: number[]; end: string }[] = [];
    const up = await rawUpstream((socket, request) => {
      const script = current[Number(request.slice(request.indexOf('\r\n\r\n') + 4))];
      if (script === undefined) return;
      let at = 0;
      for (const cut of script.cuts.sort((a, b) => a - b)) {
        socket.write(script.wire.subarray(at, cut));
        at = Math.max(at, cut);
      }
      socket.write(script.wire.subarray(at));
      if (script.end === 'end') socket.end();
      else if (script.end === 'reset') setTimeout(() => socket.resetAndDestroy(), 1);
    });
    await fc.assert(
      fc.asyncProperty(fc.array(script, { minLength: 20, maxLength: 20 }), async (scripts) => {
        current = scripts;
        const heard = scripts.map(({ client }, i) => {
          const hearing = up.ask(
            String(i),
            new Hearing((_chunk, self) => {
              if (client === 'leaves') self.abort();
              if (client === 'hesitates') setTimeout(() => self.resume(), 1);
              return client !== 'hesitates';
            }),
          );
          // The deadline that every exchange has.
          const limit = setTimeout(() => hearing.abort(), 60);
          return hearing.done.finally(() => clearTimeout(limit));
        });
        await Promise.all(heard);
      }),
      { numRuns: 25, endOnFailure: true },
    );
    await up.close();
    process.off('uncaughtException', onThrown);
    assert.deepEqual(thrown, []);
  });
});
