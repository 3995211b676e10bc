import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Listening, listening } from '../../support/listening.js';
import { rawExchange } from '../../support/raw.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const HIDDEN = `POST /mcp HTTP/1.1\r\nHost: a\r\nX-Hidden: 1\r\nContent-Type: application/json\r\nContent-Length: ${PING.length}\r\n\r\n${PING}`;
const JSON_TYPE = 'Content-Type: application/json\r\n';

describe('what another reader could frame otherwise', () => {
  let up: Listening;
  before(async () => {
    up = await listening();
  });
  after(() => up.close());

  const length = `Content-Length: ${PING.length}\r\n`;
  const chunked = `${PING.length.toString(16)}\r\n${PING}\r\n0\r\n\r\n`;
  const heads: readonly (readonly [string, string, string])[] = [
    [
      'Content-Length and Transfer-Encoding',
      `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}${length}Transfer-Encoding: chunked\r\n\r\n`,
      chunked,
    ],
    ['two Content-Lengths', `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}${length}Content-Length: 3\r\n\r\n`, PING],
    ['Transfer-Encoding: xchunked', `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Transfer-Encoding: xchunked\r\n\r\n`, chunked],
    [
      'Transfer-Encoding: chunked, identity',
      `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Transfer-Encoding: chunked, identity\r\n\r\n`,
      chunked,
    ],
    ['white space before a colon', `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Content-Length : ${PING.length}\r\n\r\n`, PING],
    ['a folded field', `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}X-Fold: a\r\n b\r\n${length}\r\n`, PING],
    ['bare line feeds', `POST /mcp HTTP/1.1\nHost: a\n${JSON_TYPE.replace('\r', '')}${length.replace('\r', '')}\n`, PING],
    ['a DELETE with a chunked body', `DELETE /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`, '0\r\n\r\n'],
    ['a line break inside Mcp-Name', `POST /mcp HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}Mcp-Name: a\rX-Injected: 1\r\n${length}\r\n`, PING],
  ];
  for (const [name, head, body] of heads)
    test(`${name}: refused and closed, and nothing behind it is served`, async () => {
      const before_count = up.calls.length;
      const answer = await rawExchange(up.port, [head + body + HIDDEN], 3000);
      assert.equal(up.calls.length, before_count, answer.text);
      assert.equal(answer.statuses.length, 1, answer.text);
      assert.ok([400, 411].includes(answer.statuses[0] ?? 0), answer.text);
      assert.notEqual(answer.end, 'open');
    });
});

describe('fields that would say that another path was asked for', () => {
  let up: Listening;
  before(async () => {
    const refused = { kind: 'refuse', status: 401, code: 'TOKEN_REQUIRED' } as const;
    up = await listening({ gate: { decide: ({ path }) => (path === '/healthz' ? { kind: 'pass' } : refused) } });
  });
  after(() => up.close());

  const fields = [
    'X-Forwarded-Uri: /healthz',
    'X-Original-URL: /healthz',
    'X-Rewrite-URL: /healthz',
    'X-HTTP-Method-Override: OPTIONS',
    'X-Forwarded-Prefix: /healthz',
    'User-Agent: kube-probe/1.30',
  ];
  for (const field of [...fields, fields.join('\r\n')])
    test(`${field.replaceAll('\r\n', ', ')} opens nothing`, async () => {
      const head = `POST /mcp HTTP/1.1\r\nHost: a\r\n${field}\r\n${JSON_TYPE}Content-Length: ${PING.length}\r\n\r\n`;
      const answer = await rawExchange(up.port, [head + PING], 3000);
      assert.deepEqual([answer.statuses, up.calls.length], [[401], 0], answer.text);
    });
});
