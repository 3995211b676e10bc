import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connect } from '../../src/client.js';
import { failure, until, within } from '../support/client-bench.js';
import { ANSWERED, type Json, legacy, sendEvents, sendJson, startAnswers } from '../support/mcp-answers.js';

describe('a client of a legacy server', () => {
  it('keeps its session, answers its questions, and ends it', async () => {
    let say: ((message: Json) => void) | undefined;
    const reply = legacy((message, request, response) => {
      if (request.method === 'DELETE') return void response.writeHead(204).end();
      if (message.params?.name !== 'ask') return undefined;
      say = sendEvents(response);
      say({ id: 'q1', method: 'elicitation/create', params: { message: 'Who?' } });
      say({ id: 'q2', method: 'sampling/createMessage', params: {} });
      say({ id: 'q3', method: 'ping' });
      return ANSWERED;
    });
    const server = await startAnswers(reply);
    const client = await connect({ http: `${server.url}/mcp` }, { elicit: () => ({ action: 'decline' }) });
    const answer = client.callTool('ask');
    await until(() => server.messages.filter(({ method }) => method === undefined).length === 3);
    const answered = (id: string) => server.messages.find((message) => message.id === id);
    assert.deepEqual(answered('q1').result, { action: 'decline' });
    assert.deepEqual(answered('q2').error, { code: -32601, message: 'The client has no sampling/createMessage.' });
    assert.deepEqual(answered('q3').result, {});
    const call = server.messages.find((message) => message.params?.name === 'ask');
    say?.({ id: call.id, result: { content: [] } });
    await answer;
    await client.close();
    const end = server.seen.at(-1);
    assert.deepEqual([end?.method, end?.headers['mcp-session-id'], end?.headers['mcp-protocol-version']], ['DELETE', 's-1', '2025-11-25']);
    const stream = server.seen.find(({ method }) => method === 'GET');
    assert.deepEqual([stream?.headers['mcp-session-id'], stream?.headers.accept], ['s-1', 'text/event-stream']);
    await server.close();
  });

  it('begins a new session in the place of one that is gone', async () => {
    let gone = false;
    const reply = legacy((message, _request, response) => {
      if (message.method === 'initialize') gone = false;
      if (!gone || message.method !== 'tools/call') return undefined;
      sendJson(response, 404, { jsonrpc: '2.0', id: message.id, error: { code: -32001, message: 'Session not found' } });
      return ANSWERED;
    });
    await within(reply, {}, async (client, { messages }) => {
      gone = true;
      const [one, two] = await Promise.all([client.callTool('echo', { a: 1 }), client.callTool('echo', { a: 2 })]);
      assert.deepEqual(
        [one.content?.[0], two.content?.[0]],
        [
          { type: 'text', text: '{"a":1}' },
          { type: 'text', text: '{"a":2}' },
        ],
      );
      assert.equal(messages.filter(({ method }) => method === 'initialize').length, 2);
    });
  });

  it('tells a cancelled call by a message too', async () => {
    const reply = legacy((message) => (message.method === 'tools/call' ? ANSWERED : undefined));
    await within(reply, {}, async (client, { messages }) => {
      const stop = new AbortController();
      const call = failure(client.callTool('echo', {}, { signal: stop.signal }));
      await until(() => messages.at(-1).method === 'tools/call');
      stop.abort();
      assert.equal((await call).code, 'CANCELLED');
      await until(() => messages.at(-1).method === 'notifications/cancelled');
      assert.equal(messages.at(-1).params.requestId, messages.at(-2).id);
    });
  });

  it('goes on reading an answer that was cut after an event with an id', async () => {
    let call: Json;
    const reply = legacy((message, request, response) => {
      if (request.method === 'GET' && request.headers['last-event-id'] === 'e-1') {
        sendEvents(response)({ id: call.id, result: { content: [] } });
        return undefined;
      }
      if (message.method !== 'tools/call') return undefined;
      call = message;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: e-1\nretry: 1\ndata:\n\n');
      return ANSWERED;
    });
    await within(reply, {}, async (client) => assert.deepEqual((await client.callTool('echo')).content, []));
  });
});
