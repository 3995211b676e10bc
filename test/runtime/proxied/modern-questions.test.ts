import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FakeExchange } from '../../support/fake-exchange.js';
import { ALL, type Answer, initialize, inside, LegacyClients, response, said, tool } from '../../support/legacy-clients.js';
import type { Message } from '../../support/legacy-upstream.js';
import { type CallInit, legacyBare } from '../../support/proxied-bench.js';

describe('proxied: questions of a modern server to legacy clients', { timeout: 30_000 }, () => {
  const clients = new LegacyClients();

  const STATE = `"${'s'.repeat(8000)}\\u00fc\\u2028 \\/"`;
  const REQUESTS = {
    name: {
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
    },
    dirs: { method: 'roots/list' },
    text: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } },
  };
  const asks = (requests: object | null = REQUESTS, rounds = 1): void => {
    let asked = 0;
    clients.upstream.special = ({ method, id }, reply, { body }) => {
      if (method !== 'tools/call') return false;
      const json =
        asked++ < rounds
          ? `{"resultType":"input_required",${requests === null ? '' : `"inputRequests":${JSON.stringify(requests)},`}"requestState":${STATE}}`
          : JSON.stringify({ resultType: 'complete', content: [{ type: 'text', text: body.toString() }] });
      reply.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},"result":${json}}`);
      return true;
    };
  };
  const ask = async (
    session: string,
    init: CallInit = {},
  ): Promise<{ readonly exchange: FakeExchange; readonly asked: readonly Answer[] }> => {
    const exchange = clients.send(tool(session, {}, init));
    await exchange.wrote(3);
    return { exchange, asked: said(exchange) };
  };

  it('each is asked on the stream of its call, and the retry carries the answers and the very state', async () => {
    const session = await clients.begin();
    asks();
    const { exchange, asked } = await ask(session);
    assert.deepEqual(
      asked.map(({ method, params }) => ({ method, ...(params === undefined ? {} : { params }) })),
      Object.values(REQUESTS),
    );
    const answers = [{ result: { action: 'accept', content: { n: 1 } } }, { result: { roots: [] } }, { result: { role: 'assistant' } }];
    for (const [at, { id }] of asked.entries())
      assert.equal((await clients.send(response(session, id as string, answers[at] as object)).done).status, 202);
    await exchange.done;
    assert.equal(exchange.question_count, 1);
    const { result } = said(exchange).at(-1) as { readonly result: { readonly content: readonly [{ readonly text: string }] } };
    const sent = result.content[0].text;
    assert.ok(sent.includes(`"requestState":${STATE}`));
    const { params } = JSON.parse(sent) as Message;
    assert.deepEqual(params?.inputResponses, {
      name: { action: 'accept', content: { n: 1 } },
      dirs: { roots: [] },
      text: { role: 'assistant' },
    });
  });

  it('nobody else can answer', async () => {
    const session = await clients.begin(initialize(ALL, '2025-11-25', { identity: {} }));
    asks({ dirs: REQUESTS.dirs });
    const exchange = clients.send(tool(session, {}, { identity: {} }));
    await exchange.wrote(1);
    const id = said(exchange)[0]?.id as string;
    const foreign = await clients.begin(initialize(ALL, '2025-11-25', { identity: { principal: 'bob' } }));
    await clients.send(response(foreign, id, { result: { roots: [{ uri: 'file:///bob' }] } }, { identity: { principal: 'bob' } })).done;
    await clients.send(response(session, id, { result: { roots: [] } }, { identity: {} })).done;
    await exchange.done;
    assert.match(exchange.writes.at(-1) ?? '', /\\"roots\\":\[\]/);
  });

  it('an error of the client is a cancelled elicitation, and ends the call for the others', async () => {
    const session = await clients.begin();
    asks({ name: REQUESTS.name });
    const first = clients.send(tool(session));
    await first.wrote(1);
    await clients.send(response(session, said(first)[0]?.id as string, { error: { code: -1, message: 'x' } })).done;
    await first.done;
    assert.match(first.writes.at(-1) ?? '', /\{\\"action\\":\\"cancel\\"\}/);
    asks({ text: REQUESTS.text });
    const second = clients.send(tool(session));
    await second.wrote(1);
    await clients.send(response(session, said(second)[0]?.id as string, { error: { code: -1, message: 'no model' } })).done;
    await second.done;
    assert.ok(clients.bench.told.includes('asked /alpha/mcp sampling/createMessage error'));
    const { error } = said(second).at(-1) as Answer;
    assert.deepEqual(error, { code: -32603, message: 'The client answered sampling/createMessage with an error. It said: no model' });
    assert.equal(clients.upstream.count('tools/call'), 3);
  });

  it('an elicitation by URL gets an id, and its end is told', async () => {
    const session = await clients.begin();
    asks({ go: { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://x.example/' } } });
    const exchange = clients.send(tool(session));
    await exchange.wrote(1);
    const [question] = said(exchange);
    const { elicitationId } = (question as unknown as { readonly params: { readonly elicitationId: string } }).params;
    assert.match(elicitationId, /^[0-9a-f-]{36}$/);
    await clients.send(response(session, question?.id as string, { result: { action: 'accept' } })).done;
    await exchange.done;
    assert.deepEqual(said(exchange)[1], { jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } });
  });

  it('what the client has not declared, or its revision has not, breaks the call and asks nobody', async () => {
    for (const [capabilities, revision, requests] of [
      [{}, '2025-11-25', { dirs: REQUESTS.dirs }],
      [ALL, '2025-03-26', { name: REQUESTS.name }],
      [ALL, '2025-06-18', { go: { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://x/' } } }],
      [ALL, '2025-11-25', { x: { method: 'tools/list' } }],
      [ALL, '2025-11-25', { x: 5 }],
    ] as const) {
      const session = await clients.begin(initialize(capabilities, revision));
      asks(requests);
      assert.equal((await clients.send(tool(session)).done).error?.code, 'UPSTREAM_BROKEN');
    }
  });

  it('without an event stream the client cannot be asked', async () => {
    const session = await clients.begin();
    asks();
    assert.equal((await clients.send(tool(session), { accepts_events: false }).done).error?.code, 'MISSING_CAPABILITY');
    const stream = clients.send(legacyBare('get_stream', inside(session)));
    asks({ dirs: REQUESTS.dirs });
    const exchange = clients.send(tool(session), { accepts_events: false });
    await stream.wrote(1);
    await clients.send(response(session, said(stream)[0]?.id as string, { result: { roots: [] } })).done;
    assert.match((await exchange.done).body.toString(), /roots/);
  });

  it('a server that gives a state alone is asked again after a pause; sixteen rounds are the most', async () => {
    const session = await clients.begin();
    asks(null, 1);
    assert.match((await clients.send(tool(session)).done).body.toString(), /requestState/);
    asks({ dirs: REQUESTS.dirs }, 17);
    const exchange = clients.send(tool(session));
    for (let round = 1; round <= 16; round++) {
      await exchange.wrote(round);
      await clients.send(response(session, said(exchange).at(-1)?.id as string, { result: { roots: [] } })).done;
    }
    const { error } = await exchange.done;
    assert.equal(error?.code, 'TOO_MANY_ROUNDS');
  });
});
