import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claims } from '../../src/contract/claims.js';
import type { Call, Runtime } from '../../src/contract/runtime.js';
import { type Gated, type ServedExchange, serveMessage } from '../../src/core/serve.js';
import { makeHead } from '../../src/testing/head.js';

const MODERN = { era: 'modern', revision: '2026-07-28', declared: true } as const;
const bound: Claims = { ...MODERN, method: 'tools/list', name: undefined };
const unbound: Claims = { ...MODERN, method: undefined, name: undefined };
const legacy: Claims = { era: 'legacy', revision: '2025-11-25', declared: true, method: undefined, name: undefined };
const META = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const LIST = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{${META}}}`;
const CANCELLED = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,${META}}}`;

/** What happened to a message, in order. `judge` lets nothing through. */
function serve(body: string, claims: Claims, judge = true): readonly string[] {
  const seen: string[] = [];
  const runtime = { handle: ({ method, kind }: Call) => void seen.push(`run ${kind} ${method}`) } as unknown as Runtime;
  const exchange = {
    begin: () => true,
    refuse: ({ status, code }: { status: number; code: string }, _outcome: string, id?: string) =>
      void seen.push(`${status} ${code} ${id}`),
  } as unknown as ServedExchange;
  const gated: Gated = {
    head: { ...makeHead(), claims },
    identity: undefined,
    facts: {},
    route: { path: '/mcp' } as Gated['route'],
    runtime,
    judge: judge ? ({ method }, id) => void seen.push(`judge ${method} ${id}`) : undefined,
  };
  serveMessage(gated, Buffer.from(body), exchange);
  return seen;
}

test('gates take a second look where no header bound the method or the name, and only there', () => {
  assert.deepEqual(serve(LIST, bound), ['run request tools/list']);
  assert.deepEqual(serve(CANCELLED, unbound), ['judge notifications/cancelled undefined']);
  assert.deepEqual(serve(CANCELLED, unbound, false), ['run notification notifications/cancelled']);
  assert.deepEqual(serve('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', legacy), ['judge tools/list 1']);
  const task = LIST.replace('tools/list', 'tasks/get').replace('{"_meta"', '{"taskId":"t","_meta"');
  assert.deepEqual(serve(task, { ...MODERN, method: 'tasks/get', name: 't' }), ['run request tasks/get']);
  assert.deepEqual(serve(task, { ...MODERN, method: 'tasks/get', name: undefined }), ['judge tasks/get 1']);
});

// requirement: HTTP-60
test('a modern request without Mcp-Method is refused with its id, unseen by gates and runtime', () => {
  assert.deepEqual(serve(LIST, unbound), ['400 HEADER_MISMATCH 1']);
  assert.deepEqual(serve(LIST.replace('"id":1,', ''), unbound), ['400 HEADER_MISMATCH undefined']);
});
