import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type Listening, listening } from '../../support/listening.js';
import { rawExchange } from '../../support/raw.js';

interface Case {
  readonly name: string;
  readonly raw_latin1?: string;
  /** In words, for the one head that is too large to list: `hugeHead` builds it. */
  readonly raw_note?: string;
  readonly status: readonly (number | 'admitted' | 'closed')[];
}

const corpus = JSON.parse(readFileSync(new URL('../../../../test/corpus/raw-http.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Case[];
};

/** Heads that carry a JSON type reach the MCP layer: 415 is how the others show that the HTTP layer took them. */
const ADMITTED: ReadonlySet<number> = new Set([200, 202, 400, 415]);

/** The corpus is judged under `refuse`. Under `accept` the one head that cannot be read in two ways is a request; `chunked.test.ts` has what follows such a head. */
const ACCEPTED: ReadonlySet<string> = new Set([
  'TE chunked only',
  'chunk size bare LF',
  'chunk ext lf',
  'chunk data no CRLF',
  'chunk trailer CL',
]);

for (const chunked of [false, true])
  describe(`raw HTTP heads, each with its right answer, chunked_requests: ${chunked ? 'accept' : 'refuse'}`, () => {
    let up: Listening;
    before(async () => {
      up = await listening({ options: { chunked } });
    });
    after(() => up.close());

    assert.equal(corpus.cases.length, 69);
    for (const { name, raw_latin1, status: refusing } of corpus.cases) {
      const status = chunked && ACCEPTED.has(name) ? (['admitted'] as const) : refusing;
      test(name, async () => {
        const calls = up.calls.length;
        const refused = up.counts.get('headRefused MEDIA_TYPE') ?? 0;
        const answer = await rawExchange(up.port, [raw_latin1 ?? hugeHead()], 1200);
        const first = answer.statuses[0];
        const taken = (up.counts.get('headRefused MEDIA_TYPE') ?? 0) - refused + (up.calls.length - calls);
        const outcomes = new Set<number | string>();
        if (first === undefined && answer.end !== 'open') outcomes.add('closed');
        if (first !== undefined) outcomes.add(first);
        if (taken === 1 && first !== undefined && ADMITTED.has(first)) outcomes.add('admitted');
        assert.ok(
          status.some((right) => outcomes.has(right)),
          `${[...outcomes].join(' or ')} instead of ${status.join(' or ')}: ${answer.text.slice(0, 300)}`,
        );
        if (!outcomes.has('admitted')) {
          assert.equal(up.calls.length, calls, 'no handler ran');
          assert.notEqual(answer.end, 'open', 'the connection was closed');
        }
        assert.ok(taken <= 1, 'at most one request was taken');
        assert.ok(answer.statuses.length <= 1, `one answer: ${answer.statuses.join(' ')}`);
      });
    }
  });

function hugeHead(): string {
  return `POST /mcp HTTP/1.1\r\nHost: a\r\n${'a:b\r\n'.repeat(2100)}X: late\r\nContent-Length: 2\r\n\r\n{}`;
}
