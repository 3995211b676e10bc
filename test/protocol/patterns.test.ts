import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/e2e/until.js';
import { type Json, messagesIn, type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { hub } from '../support/protocol/server.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

const ALL = { elicitation: {}, sampling: {}, roots: {} };
const ADA = { name: { action: 'accept', content: { name: 'Ada' } } };
const ASKABLE = [
  ['tools/call', { name: 'ask' }],
  ['prompts/get', { name: 'ask' }],
  ['resources/read', { uri: 'test://ask' }],
] as const;

describe('multi round-trip requests', () => {
  it('MRTR-05 MRTR-06 MRTR-11 input_required has questions of the three kinds under keys of their own, a state, or both', async () => {
    for (const [what, method] of [
      ['name', 'elicitation/create'],
      ['word', 'sampling/createMessage'],
      ['roots', 'roots/list'],
    ] as const) {
      const { result } = (await gateway.ask('tools/call', { name: 'ask_for', arguments: { what } }, { capabilities: ALL })).message;
      assert.deepEqual([result.resultType, Object.keys(result.inputRequests)], ['input_required', [what]]);
      assert.equal(result.inputRequests[what].method, method);
    }
    const stated = (await gateway.ask('tools/call', { name: 'ask_state' })).message.result;
    assert.deepEqual([stated.resultType, typeof stated.requestState, 'inputRequests' in stated], ['input_required', 'string', false]);
    for (const [method, params] of ASKABLE) {
      const both = (await gateway.ask(method, params, { capabilities: ALL })).message.result;
      assert.deepEqual([Object.keys(both.inputRequests), typeof both.requestState], [['name'], 'string'], method);
    }
  });

  it('MRTR-04 nothing but the three requests is answered with input_required', async () => {
    const round = { inputResponses: ADA, requestState: 'x' };
    for (const [method, params] of [
      ['server/discover', {}],
      ['tools/list', {}],
      ['prompts/list', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } }],
      ['subscriptions/listen', { notifications: {} }],
    ] as const) {
      const { message } = await gateway.ask(method, { ...params, ...round }, { capabilities: ALL });
      assert.equal(message.result.resultType, 'complete', method);
    }
  });

  it('MRTR-07 MRTR-08 MRTR-09 MRTR-21 a state that was changed, made up or given to another call or caller is refused', async () => {
    const ask = (params: object, key = 'ada') =>
      gateway.ask(
        'tools/call',
        { name: 'ask', inputResponses: ADA, ...params },
        { capabilities: ALL, path: '/guarded', headers: { 'x-api-key': key } },
      );
    const { requestState } = (
      await gateway.ask('tools/call', { name: 'ask' }, { capabilities: ALL, path: '/guarded', headers: { 'x-api-key': 'ada' } })
    ).message.result;
    assert.equal((await ask({ requestState })).message.result.content[0].text, '{"asked":true} Ada');
    const flipped = (at: number) => `${requestState.slice(0, at)}${requestState[at] === 'A' ? 'B' : 'A'}${requestState.slice(at + 1)}`;
    const forged = Buffer.from('{"asked":true}').toString('base64url');
    for (const state of [
      flipped(0),
      flipped(20),
      flipped(requestState.length - 1),
      requestState.slice(0, -2),
      `${requestState}AA`,
      forged,
      '',
      7,
      {},
    ])
      assert.equal((await ask({ requestState: state })).message.error?.code, -32602, JSON.stringify(state));
    assert.equal((await ask({ requestState, arguments: { other: 1 } })).message.error?.code, -32602);
    assert.equal((await ask({ requestState }, 'bob')).message.error?.code, -32602);
    const elsewhere = await gateway.ask('prompts/get', { name: 'ask', inputResponses: ADA, requestState }, { capabilities: ALL });
    assert.equal(elsewhere.message.error?.code, -32602);
  });

  it('MRTR-12 MRTR-13 nothing is asked that the client did not declare', async () => {
    for (const [method, params] of ASKABLE) {
      for (const capabilities of [{}, { sampling: {}, roots: {} }, { elicitation: { url: {} } }]) {
        const { message } = await gateway.ask(method, params, { capabilities });
        assert.deepEqual([message.error?.code, message.result], [-32021, undefined], `${method} ${JSON.stringify(capabilities)}`);
      }
      assert.equal((await gateway.ask(method, params, { capabilities: { elicitation: {} } })).message.result.resultType, 'input_required');
    }
  });

  it('MRTR-14 a client that never comes back costs nothing, and one that comes back without an answer is asked again', async () => {
    for (let n = 0; n < 50; n++) await gateway.ask('tools/call', { name: 'ask' }, { capabilities: ALL });
    const first = (await gateway.ask('tools/call', { name: 'ask' }, { capabilities: ALL })).message.result;
    for (const inputResponses of [
      {},
      { name: { action: 'decline' } },
      { name: { action: 'accept', content: { name: 7 } } },
      { other: {} },
    ]) {
      const again = await gateway.ask(
        'tools/call',
        { name: 'ask', inputResponses, requestState: first.requestState },
        { capabilities: ALL },
      );
      assert.deepEqual([again.message.result.resultType, Object.keys(again.message.result.inputRequests)], ['input_required', ['name']]);
    }
    // What was not asked for is ignored.
    const inputResponses = { ...ADA, more: { action: 'accept', content: {} } };
    const answered = await gateway.ask(
      'tools/call',
      { name: 'ask', inputResponses, requestState: first.requestState },
      { capabilities: ALL },
    );
    assert.equal(answered.message.result.content[0].text, '{"asked":true} Ada');
  });
});

describe('progress', () => {
  const steps = (meta: Readonly<Record<string, unknown>>) => gateway.ask('tools/call', { name: 'steps' }, { meta });

  it('PROG-03 PROG-04 PROG-05 grows, names the token of its request, and ends before the response', async () => {
    for (const progressToken of ['t', '', 0, -7]) {
      const { messages } = await steps({ progressToken });
      assert.deepEqual(
        messages.map(({ method, params }) => [method, params?.progressToken, params?.progress, params?.total]),
        [
          ['notifications/progress', progressToken, 0.5, 2],
          ['notifications/progress', progressToken, 1, 2],
          ['notifications/progress', progressToken, 2, 2],
          [undefined, undefined, undefined, undefined],
        ],
      );
    }
  });

  it('PROG-04 without a token nothing is told', async () => {
    const { messages, headers } = await steps({});
    assert.deepEqual([messages.length, headers.get('content-type')], [1, 'application/json']);
  });

  it('a token that is neither text nor integer is -32602', async () => {
    for (const progressToken of [null, 1.5, true, {}, [], 'x'.repeat(257)]) {
      const { status, message } = await steps({ progressToken });
      assert.deepEqual([status, message.error?.code], [400, -32602], JSON.stringify(progressToken));
    }
  });
});

describe('subscriptions', () => {
  /** Opens a subscription, makes everything change, and returns what comes until `count` messages are there. */
  async function heard(notifications: object, count: number, id = '1'): Promise<readonly Json[]> {
    const abort = new AbortController();
    const subscribers = hub.subscribers;
    const response = await gateway.open('subscriptions/listen', { notifications }, { id, signal: abort.signal });
    const reader = response.body!.getReader();
    let text = '';
    const upTo = async (wanted: number) => {
      while (messagesIn(text, 'text/event-stream').length < wanted) text += Buffer.from((await reader.read()).value ?? []).toString();
    };
    await upTo(1);
    await until('the source to be opened', () => hub.subscribers === subscribers + 1);
    hub.promptsChanged();
    hub.resourcesChanged();
    hub.resourceUpdated('test://text');
    hub.resourceUpdated('test://bytes');
    hub.toolsChanged();
    await upTo(count);
    abort.abort();
    await until('the source to be closed', () => hub.subscribers === subscribers);
    return messagesIn(text, 'text/event-stream');
  }

  it('SUBS-01 SUBS-02 SUBS-03 the acknowledgement is first, then comes what was asked for and nothing else', async () => {
    for (const [filter, methods] of [
      [{ toolsListChanged: true }, ['notifications/tools/list_changed']],
      [{ promptsListChanged: true, toolsListChanged: false }, ['notifications/prompts/list_changed']],
      [{ resourcesListChanged: true }, ['notifications/resources/list_changed']],
      [{ resourceSubscriptions: ['test://bytes'] }, ['notifications/resources/updated']],
      [
        { toolsListChanged: true, resourceSubscriptions: ['test://text'] },
        ['notifications/resources/updated', 'notifications/tools/list_changed'],
      ],
    ] as const) {
      const [first, ...rest] = await heard(filter, methods.length + 1, '"s1"');
      const granted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== false));
      assert.deepEqual(first, {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: granted, _meta: { 'io.modelcontextprotocol/subscriptionId': 's1' } },
      });
      assert.deepEqual(
        rest.map(({ method }) => method),
        methods,
      );
      for (const { params } of rest.filter(({ method }) => method === 'notifications/resources/updated'))
        assert.deepEqual([params.uri], 'resourceSubscriptions' in filter ? filter.resourceSubscriptions : []);
    }
  });

  it('SUBS-01 what was not there to be asked for is not granted', async () => {
    const notifications = { resourceSubscriptions: ['test://none', 'test://item/1', 'test://for-admins'], other: true };
    const [first] = await heard(notifications, 1);
    assert.deepEqual(first.params.notifications, { resourceSubscriptions: ['test://item/1'] });
  });

  it('CANC-01 over HTTP a subscription that the server ends is told so by the response to it', async () => {
    const other = await startProtocolGateway();
    const response = await other.open('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: '"s"' });
    const text = response.text();
    await other.drain();
    const [, last, ...more] = messagesIn(await text, 'text/event-stream');
    const { resultType, _meta } = last.result;
    assert.deepEqual([last.id, resultType, _meta['io.modelcontextprotocol/subscriptionId'], more], ['s', 'complete', 's', []]);
    await other.close();
  });

  it('CANC-02 a server sends no notifications/cancelled: a subscription that nothing will come of is completed', async () => {
    const { messages } = await gateway.ask('subscriptions/listen', { notifications: {} }, { id: '9' });
    assert.deepEqual(
      messages.map(({ method, id, result }) => [method, id, result?.resultType]),
      [
        ['notifications/subscriptions/acknowledged', undefined, undefined],
        [undefined, 9, 'complete'],
      ],
    );
    assert.equal(messages[1].result._meta['io.modelcontextprotocol/subscriptionId'], 9);
  });
});
