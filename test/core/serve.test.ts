import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Call } from '../../src/contract/runtime.js';
import { type Gated, type ServedExchange, serveMessage } from '../../src/core/serve.js';
import { makeHead } from '../../src/testing/head.js';
import { modernBody } from '../demo/rpc.js';
import { createFakeExchange } from '../support/fake-exchange.js';

describe('the pipeline behind the gates', () => {
  const serve = (method: string) => {
    const begun: Call[] = [];
    const handled: Call[] = [];
    const exchange: ServedExchange = Object.assign(createFakeExchange(), {
      begin: (call: Call) => begun.push(call) > 0,
      refuse: () => assert.fail('refused'),
    });
    const runtime = {
      name: 'r',
      kind: 'r',
      health: 'ready',
      start: async () => {},
      close: async () => {},
      handle: (call: Call) => void handled.push(call),
    } as const;
    const head = makeHead({ claims: { method } });
    const gated: Gated = {
      head,
      identity: undefined,
      facts: {},
      route: { path: '/mcp', url: '', runtime: 'r' },
      runtime,
      judge: undefined,
    };
    serveMessage(gated, Buffer.from(modernBody(method, { notifications: {} })), exchange);
    return [begun[0]?.body.length === 0, handled[0]?.body.length === 0];
  };

  it('an open subscription does not keep the body it was asked with', () => assert.deepEqual(serve('subscriptions/listen'), [true, false]));

  it('any other call keeps the bytes that were judged', () => assert.deepEqual(serve('tools/list'), [false, false]));
});
