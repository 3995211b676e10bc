import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeLog } from '../../src/testing.js';
import { failure, within } from '../support/client-bench.js';
import { ANSWERED, modern, sendJson } from '../support/mcp-answers.js';

describe('a client of a modern server', () => {
  it('mirrors what the message says into its head, and the arguments that the tool wants mirrored', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: {
          type: 'object',
          properties: { n: { type: 'integer', 'x-mcp-header': 'N' }, on: { type: 'boolean', 'x-mcp-header': 'On' } },
        },
      },
    };
    await within(modern(undefined, [{ name: 'söme', inputSchema }]), {}, async (client, { seen }) => {
      await client.listTools();
      await client.callTool('söme', { region: ' a', deep: { n: 7, on: false } });
      await client.callTool('söme', { region: null });
      await client.readResource('x:1');
      const heads = seen.slice(-3).map(({ headers }) => headers);
      const [first, second, third] = heads;
      assert.deepEqual(
        [
          first?.['mcp-protocol-version'],
          first?.['mcp-method'],
          first?.['mcp-name'],
          first?.authorization,
          first?.['x-own'],
          first?.accept,
        ],
        ['2026-07-28', 'tools/call', '=?base64?c8O2bWU=?=', 'Bearer token', 'yes', 'application/json, text/event-stream'],
      );
      const params = (head: typeof first) => Object.entries(head ?? {}).filter(([name]) => name.startsWith('mcp-param-'));
      assert.deepEqual(params(first), [
        ['mcp-param-region', '=?base64?IGE=?='],
        ['mcp-param-n', '7'],
        ['mcp-param-on', 'false'],
      ]);
      assert.deepEqual([params(second), third?.['mcp-name']], [[], 'x:1']);
      const meta = JSON.parse(seen.at(-1)?.body.toString() ?? '').params._meta;
      assert.deepEqual(meta['io.modelcontextprotocol/clientCapabilities'], {});
      assert.equal(meta['io.modelcontextprotocol/clientInfo'].name, 'portcullis');
    });
  });

  it('drops a tool whose x-mcp-header is not valid, with a warning', async () => {
    const log = makeLog();
    const bad = { name: 'bad', inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } } };
    await within(modern(undefined, [bad, { name: 'good', inputSchema: { type: 'object' } }]), { log }, async (client) => {
      assert.deepEqual(
        (await client.listTools()).map(({ name }) => name),
        ['good'],
      );
    });
    const warned = log.lines.find(({ fields }) => fields.tool === 'bad');
    assert.deepEqual([warned?.level, warned?.message], ['warn', 'a tool was dropped: its x-mcp-header is not valid']);
    assert.deepEqual(warned?.fields.why, ['x-mcp-header "A" must be on a string, an integer or a boolean']);
  });

  it('reads the list anew when headers do not fit, and calls again, once', async () => {
    const tool = { name: 't', inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } } };
    const reply = modern(
      (message, request, response) => {
        if (message.method !== 'tools/call' || request.headers['mcp-param-a'] !== undefined) return undefined;
        sendJson(response, 400, { jsonrpc: '2.0', id: message.id, error: { code: -32020, message: 'Mcp-Param-A is missing' } });
        return ANSWERED;
      },
      [tool],
    );
    await within(reply, {}, async (client, { messages }) => {
      assert.deepEqual((await client.callTool('t', { a: 'b' })).content?.[0], { type: 'text', text: '{"a":"b"}' });
      assert.deepEqual(
        messages.map(({ method }) => method),
        ['server/discover', 'tools/call', 'tools/list', 'tools/call'],
      );
      assert.equal((await failure(client.callTool('t', {}))).rpc?.code, -32020);
    });
  });
});
