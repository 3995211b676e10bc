import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineServer } from '../../src/server.js';

describe('base protocol, JSON Schema', () => {
  const tool = (input: object) => defineServer({ name: 's', version: '1', tools: [{ name: 't', input: input as never, run: () => '' }] });

  it('BASE-24 BASE-25 BASE-26 a schema is read as 2020-12, with or without saying so', () => {
    const prefix_items = { type: 'object', properties: { a: { type: 'array', prefixItems: [{ type: 'string' }], items: false } } };
    tool(prefix_items);
    tool({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...prefix_items });
    // Before 2020-12 `items` might be a list.
    assert.throws(
      () => tool({ type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }] } } }),
      /not a valid JSON Schema/,
    );
  });

  it('BASE-27 another dialect is refused by its name', () => {
    assert.throws(
      () => tool({ type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' }),
      /dialect http:\/\/json-schema\.org\/draft-07\/schema#; JSON Schema 2020-12 is spoken here/,
    );
  });

  it('BASE-28 TOOL-06 what is no schema, or no object, is no tool’s input', () => {
    for (const input of [{ type: 'object', required: 'a' }, { type: 'array' }, { type: 'object', properties: { a: { type: 'text' } } }, {}])
      assert.throws(() => tool(input), /tool "t": input /, JSON.stringify(input));
  });

  it('BASE-29 BASE-30 a $ref to the network is refused, and nothing can turn fetching on', () => {
    for (const $ref of ['https://example.com/s', 'http://127.0.0.1/s', '//example.com/s', 'file:///etc/passwd'])
      assert.throws(() => tool({ type: 'object', properties: { a: { $ref } } }), /only "#…" is resolved/, $ref);
  });
});
