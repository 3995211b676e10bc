import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { defineServer } from '../../src/server.js';
import { allEvents, events, modern } from '../demo/rpc.js';
import { call, modernBody, modernHead, open, type ProtocolFixture, post, protocolFixture } from './fixture.js';

let fixture: ProtocolFixture;
let url: string;

before(async () => {
  fixture = await protocolFixture();
  url = fixture.url;
});
after(() => fixture.close());

const ELICITATION = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
const ask = (more: object = {}, meta: object = ELICITATION) => call(url, 'ask', { meta, more });

describe('message patterns', () => {
  it('PT-1 MR-1 MR-3 MR-4 MR-8 a server asks in its result, by an object of known requests, and never by a request', async () => {
    const response = await open(url, 'tools/call', { name: 'ask' }, { ...ELICITATION, progressToken: 1 });
    assert.equal(response.headers.get('content-type'), 'application/json');
    const { result } = (await response.json()) as {
      result: { resultType: string; inputRequests: Record<string, { method: string }>; requestState: string };
    };
    assert.deepEqual(
      [result.resultType, Object.keys(result.inputRequests), result.inputRequests.who?.method],
      ['input_required', ['who'], 'elicitation/create'],
    );
    assert.equal(typeof result.requestState, 'string');
  });

  it('MR-2 the answers of other methods are complete', async () => {
    for (const [method, params] of [
      ['tools/list', {}],
      ['server/discover', {}],
      ['prompts/list', {}],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } }],
    ] as const) {
      const { body } = await post(url, modernBody(method, { ...params, inputResponses: {}, requestState: 'x' }), modernHead(method));
      assert.equal(body.result.resultType, 'complete', method);
    }
  });

  it('MR-5 MR-6 a state that was changed, or moved to another call, is refused', async () => {
    const { requestState } = (await ask()).body.result;
    assert.equal((await ask({ requestState, inputResponses: {} })).body.result.resultType, 'complete');
    const changed = `${requestState.slice(0, 10)}${requestState[10] === 'A' ? 'B' : 'A'}${requestState.slice(11)}`;
    for (const more of [{ requestState: changed }, { requestState: 'x' }, { requestState: 1 }, { requestState, arguments: { a: 1 } }])
      assert.equal((await ask(more)).body.error?.code, -32602, JSON.stringify(more).slice(0, 40));
  });

  it('MR-9 what the client did not declare is not asked for', async () => {
    const answer = await ask({}, {});
    assert.deepEqual(
      [answer.status, answer.body.error.code, answer.body.error.data.requiredCapabilities],
      [400, -32021, { elicitation: { form: {} } }],
    );
  });

  it('MR-10 nothing of a question stays behind when the client does not come back', async () => {
    for (let n = 0; n < 20; n++) await ask();
    assert.equal(fixture.listening.listener.subscriptions, 0);
    assert.equal((await ask({ inputResponses: { who: { action: 'cancel' } } })).body.result.resultType, 'complete');
  });

  it('SU-1 SU-2 SU-3 an acknowledgement with the id first, then what was asked for and nothing else', async () => {
    const gone = new AbortController();
    const response = await open(
      url,
      'subscriptions/listen',
      { notifications: { toolsListChanged: true, resourceSubscriptions: ['x:bytes'] } },
      {},
      gone.signal,
      's',
    );
    fixture.hub.promptsChanged();
    fixture.hub.resourceUpdated('x:empty');
    fixture.hub.toolsChanged();
    fixture.hub.resourceUpdated('x:bytes');
    const stream = events(response);
    const seen = [await stream.next(), await stream.next(), await stream.next()].map(({ value }) => value);
    assert.deepEqual(
      seen.map(({ method }) => method),
      ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed', 'notifications/resources/updated'],
    );
    assert.ok(seen.every(({ params }) => params._meta['io.modelcontextprotocol/subscriptionId'] === 's'));
    gone.abort();
  });

  it('PG-1 a token that is neither text nor integer is refused', async () => {
    for (const token of [1.5, true, {}, 'x'.repeat(257)])
      assert.deepEqual((await call(url, 'count', { meta: { progressToken: token } })).status, 400);
  });

  it('PG-3 PG-4 PG-5 progress grows, names the token as it was sent, and stops with the answer', async () => {
    for (const token of ['1', 1, '']) {
      const all = await allEvents(await open(url, 'tools/call', { name: 'count' }, { progressToken: token }));
      fixture.seen.late?.();
      assert.deepEqual(
        all.map(({ params }) => params && [params.progressToken, params.progress]),
        [[token, 1], [token, 2], undefined],
      );
    }
  });

  it('CN-1 a subscription that the server ends is told so by the response to it', async () => {
    const other = await protocolFixture();
    const response = await open(other.url, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const rest = allEvents(response);
    await other.listening.listener.drain.begin();
    const [, last, ...more] = await rest;
    assert.deepEqual([last.id, last.result.resultType, more], [1, 'complete', []]);
    await other.close();
  });

  it('VE-2 VE-3 an extension has an id with a prefix, and a method for those who negotiated it', async () => {
    assert.throws(() => defineServer({ name: 'x', version: '1', extensions: { echo: { methods: {} } } }), /extension "echo"/);
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'com.example/echo': {} } } };
    const said = await post(url, modernBody('echo/say', { text: 'x' }, capabilities), modernHead('echo/say'));
    assert.equal(said.body.result.text, 'x');
    assert.equal((await modern(url, 'echo/say', { text: 'x' })).status, 404);
  });
});
