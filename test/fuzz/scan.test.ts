import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanMessage } from '../../src/wire/scan.js';
import { skipSpace, skipValue } from '../../src/wire/skip.js';
import { AnswerSummary, judgeAnswer } from '../../src/wire/summary.js';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What JSON.parse says of bytes that must be UTF-8; undefined when it refuses. */
function parse(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(strict.decode(bytes)) };
  } catch {
    return undefined;
  }
}

function skips(bytes: Uint8Array): boolean {
  const end = skipValue(bytes, skipSpace(bytes, 0), 0);
  return end >= 0 && skipSpace(bytes, end) === bytes.length;
}

/** Our own limits, seen from the text: JSON.parse has neither. */
function withinLimits(bytes: Uint8Array): boolean {
  const bare = Buffer.from(bytes)
    .toString()
    .replace(/"(?:[^"\\]|\\.)*"/g, '""');
  let depth = 0;
  for (const c of bare) {
    if (c === '{' || c === '[') depth++;
    if (depth > 128) return false;
    if (c === '}' || c === ']') depth--;
  }
  return !/(?<![0-9.eE+-])-?[0-9]{65,}(?![0-9.eE])/.test(bare);
}

const rounds = { numRuns: 3000 };
const anyJson = fc.oneof(fc.json({ maxDepth: 5 }), fc.json({ maxDepth: 3, noUnicodeString: false, stringUnit: 'binary' }));
const token = fc.constantFrom(
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u',
  '\\ud800',
  '0',
  '-',
  '1e',
  '.5',
  'true',
  'null',
  ' ',
  '\n',
  '\0',
  '\ufeff',
  'é',
  '"a"',
  '"\u2028"',
  '9'.repeat(64),
  '9'.repeat(65),
);

test('the skipper accepts what JSON.parse accepts: any JSON value', () => {
  fc.assert(
    fc.property(anyJson, (text) => {
      assert.equal(skips(Buffer.from(text)), true, text);
    }),
    rounds,
  );
});

test('the skipper accepts what JSON.parse accepts: token soup', () => {
  fc.assert(
    fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
      const bytes = Buffer.from(tokens.join(''));
      assert.equal(skips(bytes), parse(bytes) !== undefined && withinLimits(bytes));
    }),
    { numRuns: 6000 },
  );
});

test('the skipper accepts what JSON.parse accepts: valid texts with some bytes changed', () => {
  const edit = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('set', 'insert', 'remove'),
    byte: fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\{}[],:0-9.eE u'))),
  });
  fc.assert(
    fc.property(anyJson, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      const bytes = [...Buffer.from(text)];
      for (const { at, kind, byte } of edits)
        bytes.splice(at % (bytes.length + 1), kind === 'insert' ? 0 : 1, ...(kind === 'remove' ? [] : [byte]));
      const body = Uint8Array.from(bytes);
      assert.equal(skips(body), parse(body) !== undefined && withinLimits(body), Buffer.from(body).toString());
    }),
    { numRuns: 6000 },
  );
});

const key = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', 'name', 'uri', '_meta', 'arguments') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('Name', 'METHOD', 'param\u017f', 'ID', 'x', 'X', '\u212a', 'k', 'name\0', '__proto__', 'progressToken'),
  },
);
const leaf = fc.oneof(fc.constantFrom('2.0', 1, '1', 'tools/call', null, 1.5, 'a\0b'), fc.jsonValue({ maxDepth: 1 }));
type Members = [string, unknown][];
const object = (value: fc.Arbitrary<unknown>): fc.Arbitrary<{ readonly members: Members }> =>
  fc.array(fc.tuple(key, value), { maxLength: 5 }).map((members) => ({ members }));
const body = object(fc.oneof(leaf, object(fc.oneof(leaf, object(leaf)))));

const isObject = (value: unknown): value is { readonly members: Members } =>
  typeof value === 'object' && value !== null && 'members' in value;
const write = (value: unknown): string =>
  isObject(value)
    ? `{${value.members.map(([name, inner]) => `${JSON.stringify(name)}:${write(inner)}`).join(',')}}`
    : JSON.stringify(value);

/** A second, slow opinion on the key rules. */
function ambiguous(value: unknown, names: readonly string[], inner: string | undefined, below: (value: unknown) => boolean): boolean {
  if (!isObject(value)) return false;
  const folds = value.members.map(([name]) => name.toLowerCase().toUpperCase());
  return value.members.some(
    ([name, member], i) =>
      name.includes('\0') ||
      folds.indexOf(folds[i]!) !== i ||
      names.some((known) => known !== name && known.toUpperCase() === folds[i]) ||
      (name === inner && below(member)),
  );
}

test('an object is accepted exactly when every rule holds, and what was read is what JSON.parse reads', () => {
  let accepted = 0;
  const lookInto = (value: unknown): boolean =>
    ambiguous(value, ['jsonrpc', 'id', 'method', 'params', 'result', 'error'], 'params', (params) =>
      ambiguous(params, ['name', 'uri', '_meta', 'arguments', 'progressToken'], '_meta', (meta) =>
        ambiguous(meta, ['progressToken'], undefined, () => false),
      ),
    );
  const isId = (id: unknown): boolean =>
    typeof id === 'string' || (/^-?[0-9]+$/.test(JSON.stringify(id)) && BigInt.asIntN(64, BigInt(id as number)) === BigInt(id as number));
  const isPlain = (text: unknown): boolean => typeof text !== 'string' || !text.includes('\0');
  const isNested = (value: unknown): boolean =>
    value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value));
  const seed = object(fc.oneof(leaf, object(fc.oneof(leaf, object(leaf))))).map(({ members }) => ({
    members: [['jsonrpc', '2.0'], ['method', 'x'], ...members.filter(([name]) => name !== 'jsonrpc' && name !== 'method')] as Members,
  }));
  fc.assert(
    fc.property(fc.oneof(body, seed), (generated) => {
      const text = write(generated);
      // biome-ignore lint/suspicious/noExplicitAny: whatever JSON.parse makes of it
      const value = JSON.parse(text) as any;
      const result = scanMessage(Buffer.from(text));
      const has = (name: string): boolean => Object.hasOwn(value, name);
      const params = has('params') && isNested(value.params) ? (value.params ?? {}) : {};
      const own = (holder: object, name: string): unknown =>
        Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
      const meta = own(params, '_meta');
      const token = isNested(meta) && meta ? own(meta, 'progressToken') : undefined;
      const right =
        !lookInto(generated) &&
        value.jsonrpc === '2.0' &&
        (has('method') ? typeof value.method === 'string' && value.method !== '' && isPlain(value.method) : has('id')) &&
        Number(has('method')) + Number(has('result')) + Number(has('error')) === 1 &&
        (!has('id') || isId(value.id)) &&
        isNested(value.params) &&
        isNested(meta) &&
        isPlain(own(params, 'name')) &&
        isPlain(own(params, 'uri')) &&
        (token === undefined || isId(token));
      assert.equal(result.ok, right, `${text} ${JSON.stringify(result)}`);
      if (!result.ok) return;
      accepted++;
      const read = result.value;
      const text_of = (member: unknown): string | undefined => (typeof member === 'string' ? member : undefined);
      assert.deepEqual(
        [read.method, read.id, read.name, read.uri],
        [value.method ?? '', has('id') ? JSON.stringify(value.id) : undefined, text_of(own(params, 'name')), text_of(own(params, 'uri'))],
      );
      if (read.id_span !== undefined)
        assert.equal(
          Buffer.from(text)
            .subarray(...read.id_span)
            .toString(),
          read.id,
        );
    }),
    { numRuns: 6000, seed: 20260728 },
  );
  assert.ok(accepted > 500, `only ${accepted} accepted: the generator misses the point`);
});

test('random bytes never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      assert.equal(typeof scanMessage(bytes).ok, 'boolean');
      assert.equal(typeof judgeAnswer(bytes).complete, 'boolean');
    }),
    rounds,
  );
});

const member = fc.tuple(
  fc.constantFrom('id', 'method', 'result', 'error', 'isError', 'code', 'x'),
  fc.oneof(leaf, fc.boolean(), object(fc.oneof(leaf, fc.boolean()))),
);

test('a passing answer is judged alike whole and in any chunks, and as JSON.parse sees it', () => {
  fc.assert(
    fc.property(
      fc.array(member, { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      (members, sizes) => {
        const text = write({ members });
        const bytes = Buffer.from(text);
        const probe = new AnswerSummary();
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          probe.push(bytes.subarray(at, at + size));
          at += size;
        }
        const answer = probe.finish();
        assert.deepEqual(answer, judgeAnswer(bytes), text);
        assert.equal(answer.complete, members.filter(([name]) => name === 'id').length < 2, text);
        // biome-ignore lint/suspicious/noExplicitAny: whatever JSON.parse makes of it
        const value = JSON.parse(text) as any;
        const id = Object.hasOwn(value, 'id') ? value.id : undefined;
        if (new Set(members.map(([name]) => name)).size < members.length || typeof id === 'object' || typeof value.method === 'object')
          return;
        const method = typeof value.method === 'string' ? value.method : undefined;
        assert.equal(answer.method, method, text);
        const response = method === undefined && (Object.hasOwn(value, 'result') || (value.error ?? null) !== null);
        assert.equal(answer.kind === 'response', response, text);
        if (!response) return;
        const failed = (value.error ?? null) !== null;
        assert.equal(
          answer.outcome,
          failed ? 'rpc_error' : value.result?.isError === true && !Array.isArray(value.result) ? 'tool_error' : 'ok',
          text,
        );
      },
    ),
    { numRuns: 5000 },
  );
});
