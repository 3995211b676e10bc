import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../src/errors/error.js';
import { defineServer, type ServerDefinition, withTimeout } from '../../../src/server.js';

const run = () => '';
const problemsOf = (definition: Partial<ServerDefinition>): readonly string[] => {
  try {
    defineServer({ name: 'x', version: '1', ...definition });
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems.map(({ where, message }) => `${where}: ${message}`);
  }
  return [];
};
const tool = (input: object) => problemsOf({ tools: [{ name: 't', input: input as never, run }] });

describe('defineServer', () => {
  it('freezes what it made, and later changes of what it was given change nothing', () => {
    const definition = { name: 'x', version: '1', tools: [{ name: 't', run }] };
    const server = defineServer(definition);
    assert.ok(Object.isFrozen(server));
    definition.tools.push({ name: 'u', run });
    assert.deepEqual([server.name, server.version], ['x', '1']);
    assert.throws(() => Object.assign(server, { name: 'y' }), TypeError);
  });

  it('tells every problem at once and names the component', () => {
    assert.deepEqual(
      problemsOf({
        name: '',
        tools: [
          { name: 'a b', run },
          { name: 't', run },
          { name: 't', run },
          { name: 'u', run: undefined as never, scopes: [] },
          { name: 'w', run, wrap: [{ name: 'x' }] },
        ],
        resources: [
          { uri: 'no uri', name: 'r', read: run },
          { uri: 'x:1', name: '', read: run, caching: { ttl_ms: -1 } },
        ],
        templates: [{ uriTemplate: 'x:{a}{b}', name: 'r', read: run }],
        prompts: [{ name: 'p', arguments: [{ name: 'a' }, { name: 'a' }], get: run }],
        completions: [
          { prompt: 'p', argument: 'b', complete: () => [] },
          { argument: 'b', complete: () => [] } as never,
          { template: 'x:{c}', argument: 'b', complete: () => [] },
        ],
        extensions: { nope: { methods: {} }, 'com.example/x': { methods: { 'tools/call': { run: () => ({}) } } } },
        page_size: 0,
      }),
      [
        'server: name is missing',
        'server: page_size must be an integer from 1 to 1000',
        'tool "a b": a tool name has 1 to 128 of A-Z a-z 0-9 _ - .',
        'tool "t": is there twice',
        'tool "u": run must be a function',
        'tool "u": scopes must be a list of one or more texts',
        'tool "w": wrap must be a list of withTimeout(), withConcurrency(), withRateLimit()',
        'resource "no uri": the uri must be an absolute URI (RFC 3986) in ASCII',
        'resource "x:1": the name must be a text',
        'resource "x:1": caching.ttl_ms must be an integer of 0 or more',
        'template "x:{a}{b}": uriTemplate has nothing between two variables before {b}',
        'prompt "p": has the argument a twice',
        'completion of "p" "b": no prompt has this argument',
        'completion of undefined "b": names a prompt or a template, and not both',
        'completion of "x:{c}" "b": no template has this variable',
        'extension "nope": an extension id is a prefix of labels, a slash and a name: com.example/thing',
        'extension "com.example/x": tools/call is a method of the protocol',
      ],
    );
    assert.deepEqual(problemsOf({ tools: [{ name: 't', run, wrap: [withTimeout()] }] }), []);
  });

  it('bounds schemas and never fetches', () => {
    assert.deepEqual(tool({ type: 'array' }), ['tool "t": input must be a schema of type object']);
    assert.deepEqual(tool({ type: 'object', properties: { a: { $ref: 'https://example.com/s' } } }), [
      'tool "t": input has $ref "https://example.com/s"; only "#…" is resolved',
    ]);
    assert.deepEqual(tool({ type: 'object', properties: { a: { $ref: 'other' } } }).length, 1);
    assert.deepEqual(tool({ type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' }), [
      'tool "t": input is written in dialect http://json-schema.org/draft-07/schema#; JSON Schema 2020-12 is spoken here',
    ]);
    assert.deepEqual(
      tool({ type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema', properties: { $ref: { type: 'string' } } }),
      [],
    );
    assert.match(tool({ type: 'object', required: 'a' })[0] ?? '', /^tool "t": input is not a valid JSON Schema: /);
    const nested = (depth: number): object => (depth === 0 ? {} : { not: nested(depth - 1) });
    assert.deepEqual(tool({ type: 'object', ...nested(63) }), []);
    assert.deepEqual(tool({ type: 'object', ...nested(64) }), ['tool "t": input is deeper than 64']);
    const wide = (count: number) => ({ type: 'object', anyOf: Array.from({ length: count }, () => ({})) });
    assert.deepEqual(tool(wide(1999)), []);
    assert.deepEqual(tool(wide(2000)), ['tool "t": input has more than 2000 subschemas']);
  });

  // requirement: HTTP-28 HTTP-29 HTTP-30 HTTP-31 HTTP-32 HTTP-34 HTTP-35 TOOL-08 TOOL-09 TOOL-10 TOOL-11 TOOL-12 TOOL-14
  it('holds x-mcp-header to its rules', () => {
    const at = (schema: object) => tool({ type: 'object', ...schema });
    const header = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });
    assert.deepEqual(at({ properties: { a: header('A'), b: { type: 'object', properties: { c: header('B', 'integer') } } } }), []);
    assert.deepEqual(at({ properties: { 'x-mcp-header': { type: 'string' } } }), []);
    for (const [schema, fault] of [
      [{ properties: { a: header('') } }, 'x-mcp-header "" is not a header token'],
      [{ properties: { a: header('a b') } }, 'x-mcp-header "a b" is not a header token'],
      [{ properties: { a: header('a\r\n') } }, 'x-mcp-header "a\\r\\n" is not a header token'],
      [{ properties: { a: header(7) } }, 'x-mcp-header 7 is not a header token'],
      [{ properties: { a: header('A', 'number') } }, 'x-mcp-header "A" must be on a string, an integer or a boolean'],
      [{ properties: { a: header('A', 'object') } }, 'x-mcp-header "A" must be on a string, an integer or a boolean'],
      [{ properties: { a: header('A'), b: header('a') } }, 'x-mcp-header "a" is there twice'],
      [{ 'x-mcp-header': 'A' }, 'x-mcp-header "A" is not on a property that is reached by "properties" alone'],
      [
        { properties: { a: { type: 'array', items: header('A') } } },
        'x-mcp-header "A" is not on a property that is reached by "properties" alone',
      ],
      [{ anyOf: [{ properties: { a: header('A') } }] }, 'x-mcp-header "A" is not on a property that is reached by "properties" alone'],
      [{ $defs: { a: header('A') } }, 'x-mcp-header "A" is not on a property that is reached by "properties" alone'],
    ] as const)
      assert.deepEqual(at(schema), [`tool "t": ${fault}`], JSON.stringify(schema));
  });
});
