import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, it } from 'node:test';
import type { Call } from '../../../src/contract/runtime.js';
import { until as untilNamed } from '../../support/e2e/until.js';
import type { FakeExchange } from '../../support/fake-exchange.js';
import { event, type LegacyUpstream, type Message, startLegacyUpstream } from '../../support/legacy-upstream.js';
import { BRIDGE, type CallInit, modernCall, openProxied, type ProxiedBench } from '../../support/proxied-bench.js';

const until = (done: () => boolean | Promise<boolean>): Promise<void> => untilNamed(done.toString(), done);
const ALICE = { identity: { principal: 'alice' } };
const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };

interface Asked {
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: Readonly<Record<string, unknown>> }>>;
  readonly requestState: string;
  readonly resultType: string;
}

describe('proxied: questions of a legacy server to modern clients', () => {
  let upstream: LegacyUpstream;
  let bench: ProxiedBench;
  /** Running calls of the server, by its id of them. */
  let calls: Map<number | string, ServerResponse>;
  /** What clients answered, by the server's id of the question. */
  let answers: Map<number | string, Message & { result?: unknown; error?: { code: number } }>;
  let ask: (id: number | string, response: ServerResponse, message: Message) => void;

  const open = async (bridge: Partial<typeof BRIDGE> = {}): Promise<void> => {
    calls = new Map();
    answers = new Map();
    ask = (id, response) => event(response, { id: `ask ${id}`, method: 'elicitation/create', params: FORM });
    upstream = await startLegacyUpstream();
    upstream.special = (message, response) => {
      if (message.method === undefined) answers.set(message.id as number, message);
      if (message.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      calls.set(message.id as number, response);
      ask(message.id as number, response, message);
      return true;
    };
    bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'legacy', bridge: { ...BRIDGE, ...bridge } });
  };
  const call = (init: CallInit = ALICE, more: object = {}, args: object = {}, capabilities: object = { elicitation: {} }): Call =>
    modernCall(
      'tools/call',
      { name: 'echo', arguments: args, _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities }, ...more },
      init,
    );
  const accept = { action: 'accept', content: { name: 'a' } };
  const resultOf = async (exchange: FakeExchange): Promise<Asked> => {
    const { body, error } = await exchange.done;
    assert.equal(error, undefined, error?.code);
    // A stream that was begun ends with the result.
    const text = body.length > 0 && body[0] === 0x7b ? body.toString() : /data: (.*)\n\n$/s.exec(exchange.writes.at(-1) ?? '')?.[1];
    return JSON.parse(text ?? '').result;
  };
  const retry = (asked: Asked, inputResponses?: object, init: CallInit = ALICE, args: object = {}): FakeExchange =>
    bench.send(call(init, { requestState: asked.requestState, ...(inputResponses === undefined ? {} : { inputResponses }) }, args));
  const finish = (text: string): void => {
    for (const [id, response] of calls) {
      event(response, { id, result: { content: [{ type: 'text', text }] } });
      response.end();
    }
    calls.clear();
  };
  const code = async (exchange: FakeExchange): Promise<string | undefined> => (await exchange.done).error?.code;

  afterEach(async () => {
    await bench.runtime.close(1000);
    await upstream.close();
  });

  it('a question becomes input_required; the retry answers it and gets the result; the server saw one call', async () => {
    await open();
    const asked = await resultOf(bench.send(call()));
    assert.deepEqual([asked.resultType, asked.inputRequests], ['input_required', { q1: { method: 'elicitation/create', params: FORM } }]);
    assert.ok(asked.requestState.length <= 160, `${asked.requestState.length}`);
    assert.equal(bench.runtime.era.held, 1);
    const again = retry(asked, { q1: accept, q9: { unknown: true } });
    await until(() => answers.size === 1);
    assert.deepEqual([...answers.values()][0]?.result, accept);
    finish('hello');
    assert.match(JSON.stringify(await resultOf(again)), /complete.*hello/);
    assert.equal(upstream.count('tools/call'), 1);
    assert.equal(bench.runtime.era.held, 0);
    assert.ok(bench.told.includes('held alpha answered'));
    assert.ok(bench.told.includes('asked /alpha/mcp elicitation/create answered'));
    const { capabilities } = upstream.messages('initialize')[0]?.params ?? {};
    assert.deepEqual(capabilities, { elicitation: { form: {} } });
  });

  it('questions one after the other have keys of their own, two at once come together, unanswered ones come again', async () => {
    await open();
    const first = await resultOf(bench.send(call()));
    const [response] = [...calls.values()] as [ServerResponse];
    const second = retry(first, { q1: accept });
    await until(() => answers.size === 1);
    event(response, { id: 'x', method: 'elicitation/create', params: { ...FORM, message: 'x' } });
    event(response, { id: 'y', method: 'elicitation/create', params: { ...FORM, message: 'y' } });
    const both = await resultOf(second);
    assert.deepEqual(Object.keys(both.inputRequests), ['q2', 'q3']);
    const rest = await resultOf(retry(both, { q2: { action: 'decline' } }));
    assert.deepEqual(Object.keys(rest.inputRequests), ['q3']);
    assert.deepEqual(await resultOf(retry(rest)).then(({ inputRequests }) => Object.keys(inputRequests)), ['q3']);
    await until(() => answers.has('x'));
    assert.deepEqual(answers.get('x')?.result, { action: 'decline' });
    assert.equal(answers.has('y'), false);
  });

  it('a state is good for the same caller, arguments and route only, and for nothing that was changed', async () => {
    await open();
    const asked = await resultOf(bench.send(call()));
    const changed = { ...asked, requestState: `${asked.requestState.slice(0, -1)}${asked.requestState.endsWith('A') ? 'B' : 'A'}` };
    assert.equal(await code(retry(changed, { q1: accept })), 'INVALID_STATE');
    assert.equal(await code(retry(asked, { q1: accept }, { identity: { principal: 'bob' } })), 'INVALID_STATE');
    assert.equal(await code(retry(asked, { q1: accept }, ALICE, { other: 1 })), 'INVALID_STATE');
    assert.equal(await code(retry(asked, { q1: accept }, { ...ALICE, route: { path: '/other' } })), 'INVALID_STATE');
    assert.equal(answers.size, 0);
    assert.equal(bench.runtime.era.held, 1);
  });

  it('an answer of the wrong shape is refused, and the call stays held', async () => {
    await open();
    const asked = await resultOf(bench.send(call()));
    for (const wrong of [{ q1: 1 }, { q1: { action: 'maybe' } }, { q1: {} }, []]) {
      assert.equal(await code(retry(asked, wrong)), 'INVALID_ARGUMENTS');
    }
    retry(asked, { q1: accept });
    await until(() => answers.size === 1);
  });

  it('a state that is in use, and one whose call is over', async () => {
    await open();
    const asked = await resultOf(bench.send(call()));
    const first = retry(asked, { q1: accept });
    assert.equal(await code(retry(asked, { q1: accept })), 'HELD_CALL_BUSY');
    await until(() => answers.size === 1);
    finish('done');
    await resultOf(first);
    assert.equal(await code(retry(asked, { q1: accept })), 'HELD_CALL_GONE');
  });

  it('another process with the same keys says that the call is elsewhere', async () => {
    await open();
    await bench.runtime.close(1000);
    const keys = { state_keys: ['shared secret of the replicas'] };
    const options = { protocol: 'legacy', bridge: BRIDGE } as const;
    bench = await openProxied(`${upstream.url}/mcp`, options, keys);
    const other = await openProxied(`${upstream.url}/mcp`, options, keys);
    const asked = await resultOf(bench.send(call()));
    const exchange = other.send(call(ALICE, { requestState: asked.requestState, inputResponses: { q1: accept } }));
    const { error } = await exchange.done;
    assert.deepEqual([error?.code, error?.data], ['HELD_CALL_GONE', { elsewhere: true }]);
    await other.runtime.close(1000);
  });

  it('nobody comes for hold_ttl_ms: the server gets an error for its question and the cancellation', async () => {
    await open({ hold_ttl_ms: 30 });
    const asked = await resultOf(bench.send(call()));
    await until(() => upstream.count('notifications/cancelled') === 1);
    assert.equal([...answers.values()][0]?.error?.code, -32603);
    assert.equal(bench.runtime.era.held, 0);
    assert.equal(await code(retry(asked, { q1: accept })), 'HELD_CALL_GONE');
    assert.ok(bench.told.includes('held alpha expired'));
  });

  it('the server finishes while the call is held: the retry gets the result, once', async () => {
    await open();
    const asked = await resultOf(bench.send(call()));
    finish('early');
    await until(() => calls.size === 0);
    assert.match(JSON.stringify(await resultOf(retry(asked, { q1: accept }))), /early/);
    assert.equal(await code(retry(asked, { q1: accept })), 'HELD_CALL_GONE');
  });

  it('the end of the gateway cancels held calls', async () => {
    await open();
    await resultOf(bench.send(call()));
    void bench.runtime.close(1000);
    await until(() => bench.told.includes('held alpha drain'));
    assert.ok(bench.told.includes('killed held 1'));
  });

  it('a question that needs what the client did not declare: an error to the server, and to the client which capability', async () => {
    await open();
    ask = (id, response) => event(response, { id: `ask ${id}`, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
    const { error } = await bench.send(call()).done;
    assert.deepEqual([error?.code, error?.data], ['MISSING_CAPABILITY', { requiredCapabilities: { sampling: {} } }]);
    assert.equal([...answers.values()][0]?.error?.code, -32601);
  });

  it('more than max_held: the question is refused to the server, and the call goes on', async () => {
    await open({ max_held: 1 });
    await resultOf(bench.send(call()));
    const second = bench.send(call(ALICE, {}, { n: 2 }));
    await until(() => answers.size === 1);
    assert.equal([...answers.values()][0]?.error?.code, -32603);
    finish('without');
    assert.match(JSON.stringify(await resultOf(second)), /without/);
  });

  it('a client that leaves cancels; one that was asked and leaves does not', async () => {
    await open();
    ask = () => undefined;
    const exchange = bench.send(call());
    await until(() => calls.size === 1);
    exchange.cancel('client');
    await until(() => upstream.count('notifications/cancelled') === 1);
  });

  it('two callers whom nobody knows never meet in one session', async () => {
    await open();
    const open_calls = [1, 2, 3].map((n) => bench.send(call({}, {}, { n })));
    const asked = await Promise.all(open_calls.map(resultOf));
    assert.equal(upstream.count('initialize'), 3);
    assert.equal(new Set(asked.map(({ requestState }) => requestState)).size, 3);
  });

  it('a question on the GET stream counts for the only call that runs, and is refused when there are two', async () => {
    await open();
    ask = () => undefined;
    const first = bench.send(call());
    await until(() => calls.size === 1 && upstream.streams.size === 1);
    const [stream] = [...upstream.streams] as [ServerResponse];
    event(stream, { id: 'get', method: 'elicitation/create', params: FORM });
    assert.deepEqual(Object.keys((await resultOf(first)).inputRequests), ['q1']);
    const others = [2, 3].map((n) => bench.send(call(ALICE, {}, { n })));
    await until(() => calls.size === 3);
    event(stream, { id: 'whose', method: 'elicitation/create', params: FORM });
    await until(() => answers.size === 1);
    assert.equal(answers.get('whose')?.error?.code, -32603);
    for (const other of others) other.cancel('client');
  });

  it('a question on the GET stream is refused while one call runs and another is held: either could have asked', async () => {
    await open();
    const held = await resultOf(bench.send(call()));
    ask = () => undefined;
    const other = bench.send(call(ALICE, {}, { n: 2 }));
    await until(() => calls.size === 2 && upstream.streams.size === 1);
    event([...upstream.streams][0] as ServerResponse, { id: 'whose', method: 'elicitation/create', params: FORM });
    await until(() => answers.has('whose'));
    assert.equal(answers.get('whose')?.error?.code, -32603);
    assert.ok(bench.told.includes('asked /alpha/mcp elicitation/create unattributed'));
    finish('done');
    assert.match(JSON.stringify(await resultOf(other)), /done/);
    assert.match(JSON.stringify(await resultOf(retry(held, { q1: accept }))), /done/);
  });

  it('a question that comes on the GET stream while its call is held reaches the client with the next answer', async () => {
    await open();
    const held = await resultOf(bench.send(call()));
    await until(() => upstream.streams.size === 1);
    event([...upstream.streams][0] as ServerResponse, { id: 'late', method: 'elicitation/create', params: FORM });
    event([...upstream.streams][0] as ServerResponse, { method: 'notifications/tools/list_changed' });
    const before = upstream.count('tools/list');
    await until(() => upstream.count('tools/list') > before);
    const again = await resultOf(retry(held, { q1: accept }));
    assert.deepEqual(Object.keys(again.inputRequests), ['q2']);
    const last = retry(again, { q2: accept });
    await until(() => answers.has('late'));
    finish('both');
    assert.match(JSON.stringify(await resultOf(last)), /both/);
  });

  for (const connections of [1, 2]) {
    it(`${connections} upstream connections are enough: no stream of the gateway keeps a call from being sent`, async () => {
      await open();
      await bench.runtime.close(1000);
      bench = await openProxied(`${upstream.url}/mcp`, { protocol: 'legacy', bridge: BRIDGE, connections });
      ask = (id, response) => {
        event(response, { id, result: { content: [] } });
        response.end();
      };
      for (const n of [1, 2, 3]) assert.match(JSON.stringify(await resultOf(bench.send(call(ALICE, {}, { n })))), /complete/);
    });
  }

  it('1 000 questions of calls that overlap: each client gets its own, and each answer reaches its own call', {
    timeout: 60_000,
  }, async () => {
    await open({ max_held_per_caller: 1024 });
    const wrong: string[] = [];
    ask = (id, response, { params }) => {
      const { n } = (params as { arguments: { n: number } }).arguments;
      setTimeout(
        () => event(response, { id: `n${n}`, method: 'elicitation/create', params: { ...FORM, message: `${n}` } }),
        Math.random() * 20,
      );
      void until(() => answers.has(`n${n}`)).then(() => {
        event(response, { id, result: { content: [{ type: 'text', text: JSON.stringify(answers.get(`n${n}`)?.result) }] } });
        response.end();
        calls.delete(id);
      });
    };
    const one = async (n: number): Promise<void> => {
      const init: CallInit = n % 3 === 0 ? {} : { identity: { principal: `p${n % 7}` } };
      const asked = await resultOf(bench.send(call(init, {}, { n })));
      const [[key, question] = ['', undefined]] = Object.entries(asked.inputRequests);
      if (question?.params.message !== `${n}`) wrong.push(`${n} was asked ${question?.params.message}`);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      const result = await resultOf(retry(asked, { [key]: { action: 'accept', content: { n } } }, init, { n }));
      if (!JSON.stringify(result).includes(`{\\"n\\":${n}}`)) wrong.push(`${n} got ${JSON.stringify(result)}`);
    };
    for (let from = 0; from < 1000; from += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => one(from + i)));
    assert.deepEqual(wrong, []);
    assert.equal(bench.runtime.era.held, 0);
  });
});
