import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { thumbprint } from '../../../gates/mtls/certificate.js';
import { escaped } from './certificates.js';
import { ALICE, alice, type Case, tables } from './header-cases.js';
import { open, said } from './kit.js';

const CODES = new Set(['REQUIRED', 'MALFORMED', 'UNVERIFIED', 'EXPIRED', 'NOT_ALLOWED']);
const xfcc = `By=spiffe://corp.example/gw;Hash=${thumbprint(alice.der)};Cert="${escaped(alice.pem)}";Subject="CN=a\\"b";URI=`;
const good: readonly (readonly [source: string, options: object, lines: readonly string[]])[] = [
  ...tables.map(([source, options, cases]) => [source, options, (cases[0] as Case).lines()] as const),
  ['xfcc', { source: 'xfcc' }, ['x-forwarded-client-cert', xfcc]],
];

/** One change of a text: a place, how much goes, what comes. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  gone: fc.integer({ min: 0, max: 3 }),
  come: fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constantFrom('"', '\\', ',', ';', '%', '%0A', ':', '=', ' ', '+', '-----BEGIN CERTIFICATE-----', '\u00ff'),
  ),
});

describe('mtls: a changed header', () => {
  for (const [source, options, lines] of good) {
    it(`${source}: is the same certificate or a refusal, never somebody else and never a throw`, async () => {
      const gate = await open(options);
      assert.equal(said(gate.ask(lines)), ALICE);
      fc.assert(
        fc.property(fc.nat(lines.length - 1), edit, edit, (index, ...edits) => {
          const changed = [...lines];
          for (const { at, gone, come } of edits) {
            const text = changed[index] as string;
            const from = Math.floor(at * text.length);
            changed[index] = text.slice(0, from) + come + text.slice(from + gone);
          }
          const answer = said(gate.ask(changed));
          assert.ok(answer === ALICE || CODES.has(answer), answer);
        }),
        { numRuns: 300 },
      );
      await gate.close();
    });
  }
});
