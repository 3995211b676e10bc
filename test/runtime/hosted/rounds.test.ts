import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { acceptedContent, elicit, elicitUrl, type InputRequest, listRoots, type ServerDefinition, sample } from '../../../src/server.js';
import { makeIdentity } from '../../../src/testing/head.js';
import { createFakeExchange } from '../../support/fake-exchange.js';
import { forged } from '../../support/forged.js';
import { hosting, makeCall, messages } from '../../support/hosted.js';

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const ASK_NAME = elicit('Who are you?', FORM);
const ELICITATION = { elicitation: {} };

const SERVER: Partial<ServerDefinition> = {
  tools: [
    {
      name: 'greet',
      input: { type: 'object', properties: { title: { type: 'string' } } },
      run({ title }, context) {
        const name = acceptedContent(context.responses, 'who')?.name;
        if (typeof name !== 'string') return context.inputRequired({ requests: { who: ASK_NAME }, state: { round: 1 } });
        return `Hello ${String(title)} ${name}, ${JSON.stringify(context.state)}`;
      },
    },
    {
      name: 'ask',
      input: { type: 'object', properties: { what: { type: 'string' } } },
      run({ what }, context) {
        if (context.responses !== undefined) return JSON.stringify(context.responses);
        return context.inputRequired({ requests: { it: QUESTIONS[String(what)]! } });
      },
    },
    { name: 'nothing', run: (_input, context) => context.inputRequired({}) },
    { name: 'forged', run: () => ({ ask: { state: 1 } }) as never },
  ],
  resources: [
    {
      uri: 'x:1',
      name: 'one',
      caching: { ttl_ms: 1000, scope: 'public' },
      read: (_input, context) => (context.state === undefined ? context.inputRequired({ state: 'seen' }) : 'text'),
    },
  ],
  prompts: [
    {
      name: 'p',
      get: (_input, context) => (context.responses === undefined ? context.inputRequired({ requests: { who: ASK_NAME } }) : 'hi'),
    },
  ],
};
const QUESTIONS: Readonly<Record<string, InputRequest>> = {
  form: ASK_NAME,
  url: elicitUrl('Sign in', 'https://example.com/login'),
  model: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 5 }),
  tools: sample({ messages: [], maxTokens: 5, tools: [] }),
  roots: listRoots(),
};

const greet = (more: object = {}, args: object = { title: 'Dr' }) => ({ name: 'greet', arguments: args, ...more });
const ADA = { who: { action: 'accept', content: { name: 'Ada' } } };

describe('multi round-trip requests, modern', () => {
  it('ask, keep a sealed state, and go on with the answers', async () => {
    const host = hosting(SERVER);
    const first = await host.ask('tools/call', greet(), { capabilities: ELICITATION });
    const { resultType, inputRequests, requestState, _meta } = first.body.result;
    assert.deepEqual([first.status, resultType, inputRequests], [200, 'input_required', { who: ASK_NAME }]);
    assert.deepEqual(_meta, { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } });
    assert.ok(!('ttlMs' in first.body.result));
    const second = await host.ask('tools/call', greet({ requestState, inputResponses: { ...ADA, extra: {} } }), {
      capabilities: ELICITATION,
    });
    assert.equal(second.body.result.content[0].text, 'Hello Dr Ada, {"round":1}');
    const reordered = { inputResponses: ADA, requestState, arguments: { title: 'Dr' }, name: 'greet' };
    assert.equal((await host.ask('tools/call', reordered)).body.result.content[0].text, 'Hello Dr Ada, {"round":1}');
    const again = await host.ask('tools/call', greet({ requestState, inputResponses: {} }), { capabilities: ELICITATION });
    assert.equal(again.body.result.resultType, 'input_required');
    await host.close();
  });

  it('refuse a state of another caller, call or time, and answers that are none', async () => {
    const host = hosting(SERVER);
    const alice = { capabilities: ELICITATION, identity: makeIdentity() };
    const { requestState } = (await host.ask('tools/call', greet(), alice)).body.result;
    const refused = async (params: object, init: object = alice, method = 'tools/call') => {
      const { status, body } = await host.ask(method, params, init);
      return [status, body.error?.code, body.error?.data.code];
    };
    const INVALID = [200, -32602, 'INVALID_STATE'];
    assert.deepEqual(await refused(greet({ requestState }), { ...alice, identity: makeIdentity({ principal: 'bob' }) }), INVALID);
    assert.deepEqual(await refused(greet({ requestState }), { ...alice, identity: makeIdentity({ issuer: 'other' }) }), INVALID);
    assert.deepEqual(await refused(greet({ requestState }), { capabilities: ELICITATION }), INVALID);
    assert.deepEqual(await refused(greet({ requestState }, { title: 'Mr' })), INVALID);
    assert.deepEqual(await refused({ name: 'ask', arguments: { title: 'Dr' }, requestState }), INVALID);
    assert.deepEqual(await refused({ name: 'p', requestState }, alice, 'prompts/get'), INVALID);
    assert.deepEqual(await refused(greet({ requestState: forged(requestState) })), INVALID);
    assert.deepEqual(await refused(greet({ requestState: 7 })), INVALID);
    assert.deepEqual(await refused(greet({ inputResponses: { who: 'Ada' } })), [200, -32602, 'INVALID_ARGUMENTS']);
    assert.deepEqual(await refused(greet({ inputResponses: [] })), [200, -32602, 'INVALID_ARGUMENTS']);
    host.clock.advance(600_000);
    assert.deepEqual(await refused(greet({ requestState })), INVALID);
    await host.close();
  });

  it('open a state that another process with the same key sealed', async () => {
    const keys = ['shared-secret-of-two-replicas'];
    const [one, two] = [hosting(SERVER, {}, keys), hosting(SERVER, {}, keys)];
    const { requestState } = (await one.ask('tools/call', greet(), { capabilities: ELICITATION })).body.result;
    assert.equal((await two.ask('tools/call', greet({ requestState, inputResponses: ADA }))).body.result.resultType, 'complete');
    await Promise.all([one.close(), two.close()]);
  });

  it('never ask for what the client did not declare', async () => {
    const host = hosting(SERVER);
    const ask = async (what: string, capabilities: object) => {
      const { status, body } = await host.ask('tools/call', { name: 'ask', arguments: { what } }, { capabilities });
      return body.error === undefined ? body.result.resultType : [status, body.error.code, body.error.data.requiredCapabilities];
    };
    assert.deepEqual(await ask('form', {}), [400, -32021, { elicitation: { form: {} } }]);
    assert.equal(await ask('form', { elicitation: {} }), 'input_required');
    assert.equal(await ask('form', { elicitation: { form: {} } }), 'input_required');
    assert.deepEqual(await ask('form', { elicitation: { url: {} } }), [400, -32021, { elicitation: { form: {} } }]);
    assert.deepEqual(await ask('url', { elicitation: {} }), [400, -32021, { elicitation: { url: {} } }]);
    assert.equal(await ask('url', { elicitation: { url: {} } }), 'input_required');
    assert.deepEqual(await ask('model', {}), [400, -32021, { sampling: {} }]);
    assert.deepEqual(await ask('tools', { sampling: {} }), [400, -32021, { sampling: { tools: {} } }]);
    assert.equal(await ask('tools', { sampling: { tools: {} } }), 'input_required');
    assert.deepEqual(await ask('roots', {}), [400, -32021, { roots: {} }]);
    await host.close();
  });

  it('work for resources and prompts, and a result after a round is not cached', async () => {
    const host = hosting(SERVER);
    const { requestState } = (await host.ask('resources/read', { uri: 'x:1' })).body.result;
    const { result } = (await host.ask('resources/read', { uri: 'x:1', requestState })).body;
    assert.deepEqual([result.contents, result.ttlMs, result.cacheScope], [[{ uri: 'x:1', text: 'text' }], 0, 'private']);
    const prompt = await host.ask('prompts/get', { name: 'p' }, { capabilities: ELICITATION });
    assert.equal(prompt.body.result.resultType, 'input_required');
    await host.close();
  });

  it('fail as the server’s fault when a handler asks nothing, or forges a question', async () => {
    const host = hosting(SERVER);
    for (const name of ['nothing', 'forged']) assert.equal((await host.ask('tools/call', { name })).body.error.code, -32603, name);
    await host.close();
  });
});

describe('questions to legacy clients', () => {
  const LEGACY = { revision: '2025-11-25' };
  const respond = (host: ReturnType<typeof hosting>, id: string, member: object, init: object = {}) => {
    const exchange = createFakeExchange();
    host.runtime.handle(
      makeCall('', { jsonrpc: '2.0', ...member }, { ...LEGACY, kind: 'response', id: JSON.stringify(id), ...init }),
      exchange,
    );
    return exchange.done;
  };

  it('go as requests on the stream of the call, and the handler goes on with the answers', async () => {
    const host = hosting(SERVER);
    const exchange = host.send('tools/call', greet(), { ...LEGACY, id: '5' });
    await exchange.wrote(1);
    const [question] = messages(exchange);
    assert.deepEqual([question.method, question.params], ['elicitation/create', ASK_NAME.params]);
    assert.match(question.id, /^[0-9a-f-]{36}$/);
    assert.equal(host.runtime.load.running, 0);
    assert.equal((await respond(host, question.id, { result: ADA.who })).status, 202);
    const answer = await exchange.done;
    assert.deepEqual([answer.reason, answer.outcome], ['source', 'ok']);
    assert.deepEqual(messages(exchange)[1].result.content[0].text, 'Hello Dr Ada, {"round":1}');
    assert.equal(host.clock.pending, 0);
    await host.close();
  });

  it('are answered only by the caller who was asked, and once', async () => {
    const host = hosting(SERVER);
    const identity = makeIdentity();
    const exchange = host.send('tools/call', { name: 'ask', arguments: { what: 'roots' } }, { ...LEGACY, identity });
    await exchange.wrote(1);
    const { id } = messages(exchange)[0];
    await respond(host, id, { result: { roots: ['mallory'] } }, { identity: makeIdentity({ principal: 'mallory' }) });
    await respond(host, id, { result: { roots: ['mallory'] } });
    await respond(host, 'other', { result: {} }, { identity });
    await turn();
    assert.equal(messages(exchange).length, 1);
    await respond(host, id, { result: { roots: [] } }, { identity });
    await respond(host, id, { result: { roots: ['late'] } }, { identity });
    await exchange.done;
    assert.equal(messages(exchange)[1].result.content[0].text, '{"it":{"roots":[]}}');
    await host.close();
  });

  it('keep the deadline off while the client thinks, and are forgotten when it leaves', async () => {
    const host = hosting(SERVER);
    const exchange = host.send('tools/call', greet(), LEGACY);
    await exchange.wrote(1);
    assert.equal(exchange.question_count, 1);
    exchange.cancel('client');
    await turn();
    assert.equal(host.clock.pending, 0);
    assert.equal((await respond(host, messages(exchange)[0].id, { result: ADA.who })).status, 202);
    await host.close();
  });

  it('end the call when the client answers with an error, when the revision has no such question, and when it takes no stream', async () => {
    const host = hosting(SERVER);
    const refused = host.send('tools/call', greet(), LEGACY);
    await refused.wrote(1);
    await respond(host, messages(refused)[0].id, { error: { code: -32601, message: 'no' } });
    await refused.done;
    assert.equal(messages(refused)[1].error.code, -32021);
    const old = await host.ask('tools/call', greet(), { revision: '2025-03-26' });
    assert.deepEqual([old.status, old.body.error.code], [200, -32021]);
    const url = await host.ask('tools/call', { name: 'ask', arguments: { what: 'url' } }, { revision: '2025-06-18' });
    assert.equal(url.body.error.code, -32021);
    const json_only = await host.send('tools/call', greet(), { ...LEGACY, exchange: { accepts_events: false } }).done;
    assert.equal(json_only.error?.code, 'MISSING_CAPABILITY');
    await host.close();
  });
});
