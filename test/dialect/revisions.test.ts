import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContentBlock } from '../../src/contract/content.js';
import { contentFor, structuredFor } from '../../src/dialect/items.js';
import { SERVED_REVISIONS } from '../../src/dialect/methods.js';
import { DIALECTS, dialectOf, negotiate } from '../../src/dialect/select.js';

const INFO = '{"name":"s","version":"1"}';
const LEGACY = DIALECTS.filter(({ era }) => era === 'legacy');
const modern = dialectOf('2026-07-28');

describe('revisions of a server', () => {
  it('are those that the headers may name, chosen by name', () => {
    assert.deepEqual(
      DIALECTS.map(({ revision }) => revision),
      [...SERVED_REVISIONS],
    );
    for (const dialect of DIALECTS) assert.equal(dialectOf(dialect.revision), dialect);
    assert.ok(DIALECTS.every(Object.isFrozen));
  });

  it('have the methods of their era', () => {
    for (const method of ['server/discover', 'subscriptions/listen']) {
      assert.deepEqual(
        DIALECTS.filter(({ methods }) => methods.has(method)).map(({ revision }) => revision),
        ['2026-07-28'],
      );
    }
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']) {
      assert.deepEqual(
        DIALECTS.filter(({ methods }) => methods.has(method)).map(({ revision }) => revision),
        LEGACY.map(({ revision }) => revision),
      );
    }
    for (const method of ['tools/call', 'tools/list', 'resources/read', 'prompts/get', 'completion/complete'])
      assert.ok(DIALECTS.every(({ methods }) => methods.has(method)));
  });

  it('encode a result as their clients read it', () => {
    assert.equal(
      modern.result('"a":1', undefined, INFO),
      `{"resultType":"complete","a":1,"_meta":{"io.modelcontextprotocol/serverInfo":${INFO}}}`,
    );
    assert.equal(
      modern.result('', { 'com.example/x': 1, 'io.modelcontextprotocol/serverInfo': 'forged' }, INFO, 'input_required'),
      `{"resultType":"input_required","_meta":{"com.example/x":1,"io.modelcontextprotocol/serverInfo":${INFO}}}`,
    );
    assert.equal(modern.result('', {}, INFO), `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":${INFO}}}`);
    for (const dialect of LEGACY) {
      assert.equal(dialect.result('', undefined, INFO), '{}');
      assert.equal(dialect.result('"a":1', { b: 2 }, INFO), '{"a":1,"_meta":{"b":2}}');
      assert.equal(dialect.result('', { b: 2 }, INFO), '{"_meta":{"b":2}}');
    }
  });

  it('tell statuses, codes and hints of their own', () => {
    assert.deepEqual([modern.status(404), modern.resource_not_found, modern.asks], [404, -32602, 'result']);
    assert.equal(modern.hints({ ttl_ms: 5, scope: 'public' }), '"ttlMs":5,"cacheScope":"public"');
    for (const dialect of LEGACY) {
      assert.deepEqual([dialect.status(404), dialect.resource_not_found, dialect.asks], [200, -32002, 'requests']);
      assert.equal(dialect.hints({ ttl_ms: 5, scope: 'public' }), '');
    }
  });

  it('ask what their clients can answer', () => {
    const can = (revision: string) =>
      [
        ['elicitation/create', 'form'],
        ['elicitation/create', 'url'],
        ['sampling/createMessage', undefined],
        ['roots/list', undefined],
      ].map(([method, mode]) => dialectOf(revision).can_ask(method as string, mode));
    assert.deepEqual(can('2025-11-25'), [true, true, true, true]);
    assert.deepEqual(can('2025-06-18'), [true, false, true, true]);
    assert.deepEqual(can('2025-03-26'), [false, false, true, true]);
    assert.deepEqual(can('2024-11-05'), [false, false, true, true]);
  });

  it('let content and structured results through as far as they know them', () => {
    const content: readonly ContentBlock[] = [
      { type: 'text', text: 'a' },
      { type: 'resource_link', uri: 'x:1', name: 'one' },
    ];
    assert.equal(contentFor(dialectOf('2025-06-18'), content), content);
    assert.deepEqual(contentFor(dialectOf('2025-03-26'), content), [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'x:1' },
    ]);
    const through = (revision: string) => [{ a: 1 }, [1], 'a', null, undefined].map((value) => structuredFor(dialectOf(revision), value));
    assert.deepEqual(through('2026-07-28'), [{ a: 1 }, [1], 'a', null, undefined]);
    assert.deepEqual(through('2025-11-25'), [{ a: 1 }, undefined, undefined, undefined, undefined]);
    assert.deepEqual(through('2025-03-26'), Array(5).fill(undefined));
  });

  it('are negotiated: the one that was asked for, else the newest with a handshake', () => {
    const given = (asked: string | undefined) => negotiate(asked).revision;
    for (const { revision } of LEGACY) assert.equal(given(revision), revision);
    assert.deepEqual([given('2026-07-28'), given('2030-01-01'), given(undefined)], Array(3).fill('2025-11-25'));
  });
});
