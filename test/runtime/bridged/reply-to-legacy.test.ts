import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { legacyReplyMapper } from '../../../src/runtime/bridged/reply-to-legacy.js';
import { legacyCall } from '../../support/proxied-bench.js';

/** A piece of JSON as the server writes it, and as a client is told it; undefined: not at all. */
interface Piece {
  readonly sent: string;
  readonly told: string | undefined;
}

const BIG = '"n":[9007199254740993,-0.10e+2,"\\u2028\\/"]';
const same = (sent: string): Piece => ({ sent, told: sent });
const gone = (sent: string): Piece => ({ sent, told: undefined });

/** Any of the pieces in any order, with spaces between. */
function some(pieces: readonly Piece[], open: string, close: string): fc.Arbitrary<Piece> {
  return fc.tuple(fc.shuffledSubarray([...pieces]), fc.constantFrom('', ' ', '\n\t')).map(([taken, space]) => ({
    sent: `${open}${space}${taken.map(({ sent }) => sent).join(`${space},${space}`)}${space}${close}`,
    told: `${open}${taken.flatMap(({ told }) => told ?? []).join()}${close}`,
  }));
}

/** A result with this member and what belongs to every result. */
function resultsWith(key: string, value: fc.Arbitrary<Piece>, others: readonly Piece[]): fc.Arbitrary<Piece> {
  const hints = [gone('"resultType":"complete"'), gone('"ttlMs":0'), gone('"cacheScope":"private"'), same(BIG), ...others];
  return value.chain(({ sent, told }) => some([{ sent: `"${key}": ${sent}`, told: `"${key}":${told}` }, ...hints], '{', '}'));
}

const told = (method: string, revision: string, line: string, name?: string): string => {
  const call = { ...legacyCall(method, {}), name };
  const failed = line.includes('"error"');
  const rpc_code = failed ? Number(/"code":(-\d+)/.exec(line)?.[1]) : undefined;
  const reply = legacyReplyMapper(revision)(call, Buffer.from(line), {
    kind: 'response',
    id: '7',
    outcome: failed ? 'rpc_error' : 'ok',
    rpc_code,
  });
  return Buffer.from(reply?.body ?? '').toString();
};

function holds(method: string, revision: string, results: fc.Arbitrary<Piece>): void {
  fc.assert(
    fc.property(results, ({ sent, told: expected }) => {
      const got = told(method, revision, `{"jsonrpc":"2.0","result":${sent},"id":7}`);
      assert.equal(got.replace(/\s/g, ''), `{"jsonrpc":"2.0","result":${expected},"id":1}`);
    }),
    { numRuns: 300 },
  );
}

describe('replies of modern servers to legacy clients', () => {
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const structures = revision >= '2025-06-18';
    const blocks: readonly Piece[] = [
      same(`{"type":"text","text":"a","resultType":"x"}`),
      same(`{"type":"resource","resource":{"uri":"x:1",${BIG}}}`),
      same('5'),
      { sent: '{"uri":"x:\\/2","type":"resource_link"}', told: structures ? undefined : '{"type":"text","text":"x:/2"}' },
      { sent: '{"type":"resource_link","uri":5}', told: structures ? undefined : '{"type":"text","text":""}' },
      { sent: '{"data":"","type":"audio"}', told: revision === '2024-11-05' ? '{"type":"text","text":"audio"}' : undefined },
    ].map(({ sent, told }) => ({ sent, told: told ?? sent }));

    it(`${revision}: results of tools keep what the revision knows, byte for byte`, () => {
      const whole = `"structuredContent":{"resultType":1,${BIG}}`;
      const content = some(blocks, '[', ']');
      holds('tools/call', revision, resultsWith('content', content, [structures ? same(whole) : gone(whole)]));
      holds('tools/call', revision, resultsWith('content', content, [gone('"structuredContent":[1,2]')]));
      holds('tools/call', revision, resultsWith('content', content, [gone('"structuredContent":"a"')]));
    });

    it(`${revision}: prompts are told as content`, () => {
      const messages = blocks.map(({ sent, told }) => ({
        sent: `{"content":${sent},"role":"user"}`,
        told: `{"content":${told},"role":"user"}`,
      }));
      holds('prompts/get', revision, resultsWith('messages', some(messages, '[', ']'), [same('"content":[{"type":"audio"}]')]));
    });

    it(`${revision}: tools lose schemas that the revision has not, and tools with broken annotations are left out`, () => {
      const input = same(`"inputSchema":{"type":"object","properties":{"x-mcp-header":{"type":"string"}},${BIG}}`);
      const object = '"outputSchema":{"properties":{},"type":"object"}';
      const rest = [same('"name":"a"'), same('"icons":[]'), same('"title":"x-mcp-header"'), input];
      const tools = fc.array(
        fc.oneof(
          some([...rest, structures ? same(object) : gone(object)], '{', '}'),
          some([...rest, gone('"outputSchema":{"type":"array"}')], '{', '}'),
          some([...rest, gone('"outputSchema":true')], '{', '}'),
          fc.constant(gone('{"name":"b","inputSchema":{"type":"object","properties":{"x":{"type":"array","x-mcp-header":"X"}}}}')),
        ),
        { maxLength: 6 },
      );
      holds(
        'tools/list',
        revision,
        resultsWith(
          'tools',
          tools.chain((list) => inOrder(list)),
          [same('"nextCursor":"c"')],
        ),
      );
    });
  }

  it('errors keep everything but a code that legacy revisions have not', () => {
    const error = (code: number): string => `{"id":7,"error":{"message":"no","data":{"uri":"x:1",${BIG}},"code":${code}},"jsonrpc":"2.0"}`;
    for (const [code, expected] of [
      [-32020, -32603],
      [-32021, -32603],
      [-32602, -32002],
      [-32601, -32601],
      [-32000, -32000],
    ] as const)
      assert.equal(told('resources/read', '2025-11-25', error(code), 'x:1'), error(expected).replace('"id":7', '"id":1'));
    assert.equal(told('tools/call', '2025-11-25', error(-32602), 'x:1'), error(-32602).replace('"id":7', '"id":1'));
  });

  it('a result that is no object is not told', () => {
    for (const result of ['[]', '5', 'null', '"a"']) assert.equal(told('tools/call', '2025-11-25', `{"id":7,"result":${result}}`), '');
  });
});

function inOrder(list: readonly Piece[]): fc.Arbitrary<Piece> {
  return fc.constant({
    sent: `[${list.map(({ sent }) => sent).join(' , ')}]`,
    told: `[${list.flatMap(({ told }) => told ?? []).join()}]`,
  });
}
