import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Listening, listening } from '../../support/listening.js';
import { withOddSpaces } from '../../support/odd-spaces.js';
import { rawExchange } from '../../support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const META = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const CALL = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say",${META}}}`;

/** For each field of a request a value that counts; with an odd space it must not reach a handler as that value. */
const FIELDS: readonly (readonly [string, string, string])[] = [
  ['Content-Type', 'application/json', PING],
  ['Content-Type', 'application/json; charset=utf-8', PING],
  ['Content-Encoding', 'identity', PING],
  ['Content-Length', String(PING.length), PING],
  ['Transfer-Encoding', 'chunked', PING],
  ['Accept', 'application/json', PING],
  ['Origin', 'http://localhost', PING],
  ['Host', 'gw.example', PING],
  ['MCP-Protocol-Version', '2025-11-25', PING],
  ['MCP-Protocol-Version', '2026-07-28', CALL],
  ['Mcp-Method', 'tools/call', CALL],
  ['Mcp-Name', 'say', CALL],
  ['Mcp-Param-City', 'Rome', CALL],
];

describe('a field value with what only a language takes for white space', () => {
  let up: Listening;
  before(async () => {
    up = await listening({ options: { allowed_hosts: ['gw.example'], chunked: true } });
  });
  after(() => up.close());

  for (const [field, value, body] of FIELDS)
    test(`${field}: ${value}`, async () => {
      const send = async (sent: string) => {
        const chunked = field === 'Transfer-Encoding';
        const fields: Record<string, string> = {
          Host: 'gw.example',
          'Content-Type': 'application/json',
          ...(chunked ? {} : { 'Content-Length': String(body.length) }),
          ...(body === CALL ? { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'say' } : {}),
          Connection: 'close',
          [field]: sent,
        };
        const lines = Object.entries(fields).map((line) => `${line.join(': ')}\r\n`);
        const framed = chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
        return rawExchange(up.port, [`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${framed}`], 10_000);
      };
      const bare = await send(value);
      assert.deepEqual(bare.statuses, [200], bare.text);
      const calls = up.calls.length;
      // The parser takes no tab around the fields that frame a body.
      const spaced = await send(/Length|Transfer/.test(field) ? ` ${value}` : `\t ${value} \t`);
      assert.deepEqual(spaced.statuses, [200], spaced.text);
      for (const { what, sent } of withOddSpaces(value)) {
        const { statuses, text } = await send(sent);
        assert.ok([400, 403, 406, 411, 415].includes(statuses[0] ?? 0), `${what}: ${text}`);
      }
      assert.equal(up.calls.length, calls + 1);
    });
});
