import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { climbs, gate, toGlobs } from '../../../gates/method-allow/gate.js';
import type { CallSummary } from '../../../src/gate.js';
import { makeContext, makeHead, openGate } from '../../../src/testing.js';
import { brief, configTable } from '../../support/gate-tables.js';

configTable(gate, [
  ['all four', { methods: ['tools/*', 'server/discover'], tools: ['read_*'], prompts: [], resources: ['file:///public/*'] }, undefined],
  ['one', { tools: [] }, undefined],
  ['none', {}, 'options: must NOT have fewer than 1 properties'],
  ['a string', { tools: 'read_*' }, 'options.tools: must be array'],
  ['an empty pattern', { tools: [''] }, 'options.tools[0]: must NOT have fewer than 1 characters'],
  ['a misspelt key', { tool: ['a'] }, 'options.tool: unknown key; did you mean tools?'],
]);

const pinned = {
  methods: ['tools/*', 'server/discover', 'prompts/get', 'resources/*'],
  tools: ['read_*'],
  prompts: [],
  resources: ['file:///public/*'],
};
const method = '403 MCP_METHOD_NOT_ALLOWED';
const tool = '403 TOOL_NOT_ALLOWED';
const prompt = '403 PROMPT_NOT_ALLOWED';
const resource = '403 RESOURCE_NOT_ALLOWED';
const rows: readonly (readonly [method: string, name: string | undefined, options: unknown, expected: string])[] = [
  ['tools/list', undefined, pinned, 'pass'],
  ['server/discover', undefined, pinned, 'pass'],
  ['server/discover2', undefined, pinned, method],
  ['initialize', undefined, pinned, method],
  ['Tools/Call', 'read_file', pinned, method],
  ['tools/call', 'read_file', pinned, 'pass'],
  ['tools/call', 'read_', pinned, 'pass'],
  ['tools/call', 'READ_file', pinned, tool],
  ['tools/call', 'xread_file', pinned, tool],
  ['tools/call', 'delete_all', pinned, tool],
  ['tools/call', undefined, pinned, tool],
  ['tools/call', '', pinned, tool],
  ['prompts/get', 'x', pinned, prompt],
  ['prompts/get', 'x', { tools: [] }, 'pass'],
  ['tools/call', 'x', { tools: [] }, tool],
  ['tools/call', 'x', { tools: ['*'] }, 'pass'],
  ['tools/call', 'x'.repeat(4_097), { tools: ['x*'] }, tool],
  ['tools/call', 'x'.repeat(4_096), { tools: ['x*'] }, 'pass'],
  ['resources/read', 'file:///public/a/b.txt', pinned, 'pass'],
  ['resources/read', 'file:///private/a', pinned, resource],
  ['resources/read', 'file:///public/../private/a', pinned, resource],
  ['resources/read', 'file:///public/%2e%2E/private/a', pinned, resource],
  ['resources/read', 'file:///public/../private/a', { tools: [] }, 'pass'],
  ['resources/subscribe', 'file:///public/a', pinned, 'pass'],
  ['resources/subscribe', 'file:///etc/passwd', pinned, resource],
  ['resources/unsubscribe', 'file:///etc/passwd', pinned, resource],
  ['resources/list', undefined, pinned, 'pass'],
];

describe('method-allow: a modern head and a legacy message with the same names', () => {
  for (const [name, subject, options, expected] of rows) {
    test(`${name} ${(subject ?? '(no name)').slice(0, 40)} ${JSON.stringify(options).slice(0, 24)}: ${expected}`, async () => {
      const opened = await openGate(gate, options);
      const modern = makeHead({ claims: { era: 'modern', method: name, name: subject } });
      const decision = await opened.decide(modern, makeContext());
      assert.equal(brief(decision), expected);
      if (decision.kind === 'refuse') assert.equal(decision.about, 'call');
      const call: CallSummary = { era: 'legacy', revision: '2025-11-25', method: name, name: subject };
      const legacy = makeHead({ claims: { era: 'legacy', revision: '2025-11-25' } });
      assert.equal(brief(await opened.decide(legacy, makeContext())), 'pass');
      assert.equal(brief(await opened.decideCall?.(call, legacy, makeContext())), expected);
    });
  }
});

test('a legacy head’s Mcp headers decide nothing: the message does', async () => {
  const opened = await openGate(gate, { tools: ['read_file'] });
  const head = makeHead({
    headers: { 'mcp-method': 'tools/call', 'mcp-name': 'read_file' },
    claims: { era: 'legacy', revision: '2025-11-25', method: undefined, name: undefined },
  });
  const call: CallSummary = { era: 'legacy', revision: '2025-11-25', method: 'tools/call', name: 'delete_all' };
  assert.equal(brief(await opened.decide(head, makeContext())), 'pass');
  assert.equal(brief(await opened.decideCall?.(call, head, makeContext())), tool);
});

test('method-allow lets a client answer a server’s request', async () => {
  const opened = await openGate(gate, { methods: [] });
  const call: CallSummary = { era: 'legacy', revision: '2025-11-25', method: '', name: undefined };
  assert.equal(brief(await opened.decideCall?.(call, makeHead(), makeContext())), 'pass');
});

describe('globs', () => {
  const cases: readonly (readonly [pattern: string, text: string, expected: boolean])[] = [
    ['*', '', true],
    ['a', 'a', true],
    ['a', 'aa', false],
    ['a*', 'a', true],
    ['*a', 'ba', true],
    ['*a', 'ab', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*bc*c', 'abc', false],
    ['a**b', 'ab', true],
    ['a.c', 'abc', false],
    ['a?', 'ab', false],
    ['[a]*', 'a', false],
    ['*/b/*', 'a/b/c/d', true],
  ];
  for (const [pattern, text, expected] of cases) {
    test(`${pattern} ${expected ? 'describes' : 'does not describe'} "${text}"`, () => assert.equal(toGlobs([pattern])(text), expected));
  }

  test('agree with a backtracking matcher on every short text', () => {
    const texts = [...words('ab', 5)];
    for (const pattern of words('ab*', 4)) {
      const matches = toGlobs([pattern]);
      for (const text of texts) assert.equal(matches(text), slow(pattern, text), `${pattern} on ${text}`);
    }
  });

  test('many stars on a long name cost no time', () => {
    const matches = toGlobs(['*a*a*a*a*b', `${'*a'.repeat(120)}*b`]);
    const started = process.hrtime.bigint();
    for (let i = 0; i < 100; i += 1) assert.equal(matches('a'.repeat(4_096)), false);
    assert.equal(matches('a'.repeat(50_000)), false);
    assert.ok(process.hrtime.bigint() - started < 100_000_000n);
  });
});

describe('dot segments', () => {
  for (const uri of [
    'a/../b',
    'a/..',
    '../a',
    'a/./b',
    'a%2F..%2Fb',
    'a/%2e%2e/b',
    'a/%252e%252e/b',
    'a\\..\\b',
    'a%5c..',
    'a/..?q',
    'a/..#f',
  ]) {
    test(`${uri} climbs`, () => assert.equal(climbs(uri), true));
  }
  for (const uri of ['file:///public/a', 'a/..b/c', 'a/b..', 'a/...', 'https://x/a?b=c%25', 'a.b/c.d']) {
    test(`${uri} does not`, () => assert.equal(climbs(uri), false));
  }

  test('percent signs that are escaped a million times over cost no time and hide nothing', () => {
    const escaped = `%${'25'.repeat(900_000)}`;
    const started = process.hrtime.bigint();
    assert.equal(climbs(`a/${escaped}`), false);
    assert.equal(climbs(`a/${escaped}2e${escaped}2E/b`), true);
    assert.ok(process.hrtime.bigint() - started < 3_000_000_000n);
  });
});

function* words(letters: string, longest: number): Generator<string> {
  let last = [''];
  for (let length = 0; length <= longest; length += 1) {
    yield* last;
    last = last.flatMap((word) => [...letters].map((letter) => word + letter));
  }
}

function slow(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern.startsWith('*')) return slow(pattern.slice(1), text) || (text !== '' && slow(pattern, text.slice(1)));
  return text !== '' && text[0] === pattern[0] && slow(pattern.slice(1), text.slice(1));
}
