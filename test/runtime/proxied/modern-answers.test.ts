import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerTo, initialize, inside, LegacyClients, tool } from '../../support/legacy-clients.js';
import { legacyCall } from '../../support/proxied-bench.js';

describe('proxied: what a legacy client is told of a modern server', { timeout: 30_000 }, () => {
  const clients = new LegacyClients();

  it('a list of items loses what the revision has no word for', async () => {
    const session = await clients.begin(initialize({}, '2025-03-26'));
    clients.upstream.special = ({ method, id }, reply) => {
      const results: Record<string, object> = {
        'tools/list': {
          tools: [
            { name: 'a', inputSchema: { type: 'object', properties: { x: { type: 'array', 'x-mcp-header': 'X' } } } },
            { name: 'b', icons: [{ src: 'i' }], outputSchema: { type: 'object' }, inputSchema: { type: 'object' } },
            { name: 'c', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } },
          ],
        },
        'tools/call': {
          content: [
            { type: 'resource_link', uri: 'x://1', name: 'x' },
            { type: 'audio', data: '', mimeType: 'audio/wav' },
          ],
          structuredContent: [1],
        },
        'prompts/get': { messages: [{ role: 'user', content: { type: 'resource_link', name: 'x', uri: 'x://2' } }] },
      };
      const result = results[method];
      if (result === undefined) return false;
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } });
      reply.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return true;
    };
    const tools = await answerTo(clients.send(legacyCall('tools/list', {}, inside(session))));
    assert.deepEqual(tools.result, {
      tools: [
        { name: 'b', icons: [{ src: 'i' }], inputSchema: { type: 'object' } },
        { name: 'c', inputSchema: { type: 'object' } },
      ],
    });
    const called = await answerTo(clients.send(tool(session)));
    assert.deepEqual(called.result, {
      content: [
        { type: 'text', text: 'x://1' },
        { type: 'audio', data: '', mimeType: 'audio/wav' },
      ],
    });
    const got = await answerTo(clients.send(legacyCall('prompts/get', { name: 'p' }, inside(session, { over: { name: 'p' } }))));
    assert.deepEqual(got.result, { messages: [{ role: 'user', content: { type: 'text', text: 'x://2' } }] });
    const oldest = await clients.begin(initialize({}, '2024-11-05'));
    const heard = await answerTo(clients.send(tool(oldest)));
    assert.deepEqual(heard.result?.content, [
      { type: 'text', text: 'x://1' },
      { type: 'text', text: 'audio' },
    ]);
    const newer = await clients.begin(initialize({}, '2025-06-18'));
    const structured = await answerTo(clients.send(tool(newer)));
    assert.deepEqual(structured.result, {
      content: [
        { type: 'resource_link', uri: 'x://1', name: 'x' },
        { type: 'audio', data: '', mimeType: 'audio/wav' },
      ],
    });
  });

  it('mirrored arguments are learnt from the list, or from the refusal of a call, which is then sent once more', async () => {
    const session = await clients.begin();
    let header = 'Region';
    clients.upstream.special = ({ method, id, params }, reply, { headers }) => {
      const answer = (status: number, body: object): true => {
        reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
        return true;
      };
      if (method === 'tools/list') {
        const properties = { region: { type: 'string', 'x-mcp-header': header }, n: { type: 'integer', 'x-mcp-header': 'N' } };
        return answer(200, { result: { resultType: 'complete', tools: [{ name: 'echo', inputSchema: { type: 'object', properties } }] } });
      }
      if (method !== 'tools/call') return false;
      const { region } = (params as { readonly arguments: { readonly region: string } }).arguments;
      const sent = headers[`mcp-param-${header.toLowerCase()}`];
      const wanted = region === 'ü' ? '=?base64?w7w=?=' : region;
      if (sent !== wanted || headers['mcp-param-n'] !== '5') return answer(400, { error: { code: -32020, message: 'Header mismatch' } });
      return answer(200, { result: { resultType: 'complete', content: [] } });
    };
    const first = await answerTo(clients.send(tool(session, { region: 'ü', n: 5 })));
    assert.deepEqual(first.result, { content: [] });
    assert.deepEqual([clients.upstream.count('tools/call'), clients.upstream.count('tools/list')], [2, 1]);
    await clients.send(tool(session, { region: 'eu', n: 5 })).done;
    assert.equal(clients.upstream.count('tools/call'), 3);
    header = 'Place';
    assert.deepEqual((await answerTo(clients.send(tool(session, { region: 'eu', n: 5 })))).result, { content: [] });
    assert.deepEqual([clients.upstream.count('tools/call'), clients.upstream.count('tools/list')], [5, 2]);
    const wrong = await answerTo(clients.send(tool(session, { region: 'eu', n: 6 })));
    assert.equal(wrong.error?.code, -32603);
    assert.equal(clients.upstream.count('tools/call'), 7);
  });
});
