import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isId } from '../../src/wire/id.js';
import { RequestIdReader, requestIdOf } from '../../src/wire/request-id.js';
import { scanMessage } from '../../src/wire/scan.js';

const rounds = { numRuns: 3000 };
const value = fc.json({ maxDepth: 3 });
const id = fc.oneof(
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.string({ unit: 'binary', maxLength: 90 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('null', 'true', '1.5', '1e1', '{}', '[]', '"\\u0031"', '-0', '{"id":1}', `"${'x'.repeat(257)}"`),
);
const member = fc.oneof(
  { weight: 4, arbitrary: id.map((raw) => `"id":${raw}`) },
  { weight: 3, arbitrary: fc.constantFrom('"method":"tools/call"', '"jsonrpc":"2.0"', '"params":{"id":5,"_meta":{"id":6}}') },
  { weight: 1, arbitrary: fc.constantFrom('"ID":1', '"\\u0069d":2', '"result":{"id":3}', '"error":{}') },
  { weight: 2, arbitrary: fc.tuple(fc.string({ maxLength: 5 }), value).map(([key, text]) => `${JSON.stringify(key)}:${text}`) },
);
const space = fc.constantFrom('', '', ' ', '\n\t');
/** Mostly messages of the kind that is asked about. */
const message = fc
  .tuple(fc.array(member, { maxLength: 7 }), space, fc.constantFrom('}', '}', '', ']', ' x'))
  .map(([members, gap, end]) => Buffer.from(`{${gap}${members.join(`${gap},${gap}`)}${end}`));
const bytes = fc.oneof(
  message,
  value.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 40 }).map((some) => Buffer.from(some)),
);

test('what is found in any bytes is an id, written as there', () => {
  fc.assert(
    fc.property(bytes, (body) => {
      const found = requestIdOf(body);
      if (found === undefined) return;
      JSON.parse(found);
      assert.ok(isId(found) && body.includes(Buffer.from(found)), found);
    }),
    rounds,
  );
});

test('it is the scanner’s id in each message that the scanner accepts, or none in one that it refuses without an id', () => {
  fc.assert(
    fc.property(message, (body) => {
      const scanned = scanMessage(body);
      const expected = scanned.ok ? (scanned.value.kind === 'request' ? scanned.value.id : undefined) : scanned.id;
      if (scanned.ok || scanned.fault.code === 'INVALID_REQUEST') {
        // The scanner reads a message with a method and a result too, to say that it is neither.
        if (/"(result|error)":/.test(body.toString('latin1'))) return;
        assert.equal(requestIdOf(body), expected, body.toString());
      }
    }),
    rounds,
  );
});

test('every beginning of a message has its id or none', () => {
  fc.assert(
    fc.property(message, (body) => {
      const whole = scanMessage(body);
      if (!whole.ok || whole.value.kind !== 'request') return;
      for (let end = 0; end < body.length; end++) {
        const found = requestIdOf(body.subarray(0, end));
        assert.ok(found === undefined || found === whole.value.id, `${found} in the first ${end} bytes of ${body}`);
      }
    }),
    { numRuns: 1000 },
  );
});

test('pieces of any size say what the bytes so far say', () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (body, sizes) => {
      const reader = new RequestIdReader();
      let at = 0;
      for (let n = 0; at < body.length; n++) {
        const piece = body.subarray(at, at + (sizes[n % sizes.length] ?? 1));
        at += piece.length;
        if (reader.push(piece)) break;
      }
      assert.equal(reader.id, requestIdOf(body.subarray(0, at)));
    }),
    rounds,
  );
});
