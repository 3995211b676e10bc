import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { GateDecision, RequestGate, RequestHead } from '../../../src/gate.js';
import { type Listening, type ListeningSetup, listening } from '../../support/listening.js';
import { type RawAnswer, rawExchange, type Step } from '../../support/raw.js';

const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}';
const callOf = (id: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"a","arguments":{}${more},${META}}}`;
const MODERN = 'MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: a\r\n';
const head = (length: number | 'chunked', more = MODERN, who = 'Authorization: alice\r\n'): string =>
  `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${who}${more}${length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`}\r\n\r\n`;
const whole = (body: string, more = MODERN, who?: string): string => head(Buffer.byteLength(body), more, who) + body;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Knows whoever sends Authorization. */
const WHO: RequestGate = {
  decide: ({ headers }) =>
    headers.get('authorization') === undefined
      ? { kind: 'refuse', status: 401, code: 'WHO_ARE_YOU' }
      : { kind: 'identify', identity: { principal: 'alice', issuer: 'test', scopes: new Set() } },
};
const refuse = (status: 401 | 403 | 404 | 429 | 503, more: object = {}): GateDecision => ({
  kind: 'refuse',
  status,
  code: 'NOT_THAT',
  ...more,
});
const looks = (decision: GateDecision): RequestGate => ({
  decide: ({ claims }) => (claims.method === 'none' ? { kind: 'pass' } : decision),
});
const blind = (decision: GateDecision): RequestGate => ({ decide: () => decision });
const PASS: GateDecision = { kind: 'pass' };

interface Told {
  readonly status: number | undefined;
  readonly code: string;
  /** Raw JSON text; undefined when the member is not there. */
  readonly id: string | undefined;
  readonly answer: RawAnswer;
  readonly up: Listening;
}

async function ask(setup: ListeningSetup, ...steps: Step[]): Promise<Told> {
  const up = await listening({ identifier: WHO, ...setup });
  try {
    const answer = await rawExchange(up.port, steps, 8000);
    return { ...toldOf(answer), up };
  } finally {
    await up.close();
  }
}

function toldOf(answer: RawAnswer): Omit<Told, 'up'> {
  const body = answer.text.slice(answer.text.lastIndexOf('\r\n\r\n') + 4);
  assert.doesNotMatch(body, /"id":null/);
  assert.equal(answer.end, 'closed', answer.text);
  const { error } = JSON.parse(body) as { error: { data: { code: string } } };
  return { status: answer.statuses[0], code: error.data.code, id: /^\{"jsonrpc":"2\.0","id":(.*?),"error"/.exec(body)?.[1], answer };
}

describe('a refusal to a known caller about what is called has the id of the call', () => {
  const about: readonly (readonly [name: string, gate: RequestGate, status: number])[] = [
    ['a 403 of a gate that read the claims', looks(refuse(403)), 403],
    ['a 403 that says so', blind(refuse(403, { about: 'call' })), 403],
    ['a 404 that says so', blind(refuse(404, { about: 'call' })), 404],
    [
      'a 403 of a gate that read the claims late',
      { decide: (given: RequestHead) => wait(5).then(() => (given.claims.name === 'x' ? PASS : refuse(403))) },
      403,
    ],
  ];
  for (const [name, gate, status] of about)
    test(name, async () => {
      const told = await ask({ gate }, whole(callOf('"c-1"')));
      assert.deepEqual([told.status, told.code, told.id, told.up.calls.length], [status, 'NOT_THAT', '"c-1"', 0]);
      assert.match(told.answer.text, /connection: close/i);
      assert.deepEqual([told.up.denials.length, told.up.records.length, told.up.records[0]?.outcome], [1, 1, 'refused']);
      assert.equal(told.up.denials[0]?.identity?.principal, 'alice');
    });

  test('a gate that identifies may say so of its own refusal', async () => {
    const told = await ask({ identifier: blind(refuse(403, { about: 'call' })) }, whole(callOf('5')));
    assert.deepEqual([told.status, told.id], [403, '5']);
  });

  test('a body that comes late or in pieces', async () => {
    const body = callOf('12345');
    const cut = body.indexOf('345');
    const gate = looks(refuse(403));
    assert.equal((await ask({ gate }, head(body.length), 100, body)).id, '12345');
    assert.equal((await ask({ gate }, head(body.length) + body.slice(0, cut), 100, body.slice(cut))).id, '12345');
    assert.equal(
      (await ask({ gate }, head(body.length) + body.slice(0, cut), 50, body.slice(cut, cut + 1), 50, body.slice(cut + 1, -1))).id,
      '12345',
    );
    const chunked = [head('chunked'), chunk(body.slice(0, cut)), 50, chunk(body.slice(cut)), '0\r\n\r\n'];
    assert.equal((await ask({ gate, options: { chunked: true } }, ...chunked)).id, '12345');
  });

  test('a body that never comes: the answer goes without an id', async () => {
    const told = await ask({ gate: looks(refuse(403)) }, head(100), '{"jsonrpc":"2.0",');
    assert.deepEqual([told.status, told.id], [403, undefined]);
    assert.ok(told.answer.elapsed_ms > 300, String(told.answer.elapsed_ms));
  });

  const bodies: readonly (readonly [name: string, body: string])[] = [
    ['a nested id only', '{"jsonrpc":"2.0","method":"tools/call","params":{"id":1}}'],
    ['a batch', `[${callOf('1')}]`],
    ['null', callOf('null')],
    ['a fraction', callOf('1.5')],
    ['257 bytes', callOf(`"${'x'.repeat(257)}"`)],
    ['an object', callOf('{"id":1}')],
    ['two ids', '{"id":1,"id":2,"method":"x"}'],
    ['no JSON', 'id=1'],
    ['nothing', ''],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['an id behind 64 KiB', `{"jsonrpc":"2.0","method":"tools/call","params":{"a":"${'x'.repeat(66_000)}"},"id":1}`],
  ];
  for (const [name, body] of bodies)
    test(`no id for ${name}`, async () => {
      const told = await ask({ gate: looks(refuse(403)) }, whole(body));
      assert.deepEqual([told.status, told.code, told.id, told.up.calls.length], [403, 'NOT_THAT', undefined, 0]);
    });

  test('a client that waits for 100 Continue is neither sent one nor waited for', async () => {
    const told = await ask({ gate: looks(refuse(403)) }, head(1000, `${MODERN}Expect: 100-continue\r\n`));
    assert.deepEqual([told.status, told.id], [403, undefined]);
    assert.doesNotMatch(told.answer.text, /100 Continue/i);
  });

  test('a drain ends the wait, and a client that leaves is recorded', async () => {
    for (const end of ['drain', 'leave'] as const) {
      const up = await listening({ identifier: WHO, gate: looks(refuse(403)) });
      const socket = connect(up.port, '127.0.0.1');
      let text = '';
      socket.on('data', (piece) => (text += piece)).on('error', () => undefined);
      const closed = new Promise((resolve) => socket.on('close', resolve));
      socket.write(head(100));
      while (up.counts.get('gate test refuse') === undefined) await wait(5);
      if (end === 'leave') socket.destroy();
      else await up.listener.drain.begin();
      await closed;
      while (up.denials.length === 0) await wait(5);
      assert.deepEqual([up.denials[0]?.code, up.records.length], ['NOT_THAT', 1]);
      if (end === 'drain') assert.match(text, /^HTTP\/1\.1 403 [\s\S]*\{"jsonrpc":"2\.0","error"/);
      await up.close();
    }
  });
});

describe('a refusal about who calls goes without a look at the body', () => {
  const rows: readonly (readonly [name: string, setup: ListeningSetup, status: number, who?: string])[] = [
    ['nobody was identified', { gate: looks(refuse(403)) }, 401, ''],
    ['no gate identifies', { identifier: undefined as never, gate: looks(refuse(403, { about: 'call' })) }, 403],
    ['a gate that saw no claims', { gate: blind(refuse(403)) }, 403],
    ['a gate that says so', { gate: looks(refuse(403, { about: 'caller' })) }, 403],
    ['401', { gate: looks(refuse(401)) }, 401],
    ['429', { gate: looks(refuse(429)) }, 429],
    ['503', { gate: looks(refuse(503)) }, 503],
    [
      'an earlier gate saw the claims',
      {
        identifier: { decide: (given, context) => (given.claims.method === 'x' ? PASS : WHO.decide(given, context)) },
        gate: blind(refuse(403)),
      },
      403,
    ],
    ['a gate that fails', { gate: looks(undefined as never) }, 500],
  ];
  for (const [name, setup, status, who] of rows)
    test(name, async () => {
      const { identifier = WHO, ...rest } = setup;
      const told = await ask(
        'identifier' in setup && setup.identifier === undefined ? { ...rest, identifier: undefined as never } : { ...rest, identifier },
        whole(callOf('1'), MODERN, who),
      );
      assert.deepEqual([told.status, told.id, told.up.calls.length], [status, undefined, 0]);
    });
});

describe('a body that is too large', () => {
  const limits = { max_body_bytes: 1000 };
  const large = callOf('"big"', `,"x":"${'x'.repeat(2000)}"`);

  test('declared, of a known caller: 413 with the id, and nothing runs', async () => {
    const told = await ask({ limits }, whole(large));
    assert.deepEqual([told.status, told.code, told.id, told.up.calls.length], [413, 'BODY_TOO_LARGE', '"big"', 0]);
    assert.deepEqual([told.up.counts.get('headRefused BODY_TOO_LARGE'), told.up.denials.length, told.up.records.length], [1, 1, 1]);
    assert.equal((await ask({ limits }, head(50_000_000) + large)).id, '"big"');
    assert.equal((await ask({ limits }, head(50_000_000))).id, undefined);
  });

  test('declared, of anybody else: 413 whatever the gates say, and the body is not looked at', async () => {
    let asked = 0;
    const counts = (decision: GateDecision): RequestGate => ({
      decide() {
        asked += 1;
        return decision;
      },
    });
    const nobody = { identifier: undefined as never };
    const rows: readonly (readonly [name: string, setup: ListeningSetup, more: string, who: string, asked: number])[] = [
      ['unknown', { gate: counts(PASS) }, MODERN, '', 0],
      ['refused for who it is', { gate: counts(refuse(429)) }, MODERN, 'Authorization: alice\r\n', 1],
      ['no gate identifies', { ...nobody, gate: counts(PASS) }, MODERN, '', 0],
      ['no gate at all', nobody, MODERN, '', 0],
      ['waits for 100 Continue', { gate: counts(PASS) }, `${MODERN}Expect: 100-continue\r\n`, 'Authorization: alice\r\n', 0],
      ['no MCP either', { gate: counts(PASS) }, `${MODERN}Accept: text/html\r\n`, 'Authorization: alice\r\n', 0],
    ];
    for (const [name, setup, more, who, times] of rows) {
      asked = 0;
      const told = await ask({ limits, ...setup }, whole(large, more, who));
      assert.deepEqual([told.status, told.code, told.id, asked], [413, 'BODY_TOO_LARGE', undefined, times], name);
    }
  });

  test('declared, for a call that is not allowed: 413 with the id', async () => {
    const told = await ask({ limits, gate: looks(refuse(403)) }, whole(large));
    assert.deepEqual([told.status, told.id, told.up.denials[0]?.identity?.principal], [413, '"big"', 'alice']);
  });

  test('in chunks: 413 with the id that came', async () => {
    const steps = [head('chunked'), chunk(large.slice(0, 500)), 20, chunk(large.slice(500)), '0\r\n\r\n'];
    for (const identifier of [WHO, undefined as never]) {
      const told = await ask({ limits, options: { chunked: true }, identifier }, ...steps);
      assert.deepEqual([told.status, told.code, told.id], [413, 'BODY_TOO_LARGE', '"big"']);
    }
    const one = await ask({ limits, options: { chunked: true } }, head('chunked'), chunk(large));
    assert.deepEqual([one.status, one.id], [413, '"big"']);
  });
});

describe('a body that was read in part', () => {
  const body = callOf('"half"');
  test('too late: 408 with the id that came', async () => {
    const told = await ask({}, head(body.length) + body.slice(0, -5));
    assert.deepEqual([told.status, told.code, told.id], [408, 'BODY_TIMEOUT', '"half"']);
    const none = await ask({}, head(body.length) + body.slice(0, 12));
    assert.deepEqual([none.status, none.id], [408, undefined]);
  });

  test('drained: 503 with the id that came', async () => {
    const up = await listening({ identifier: WHO, limits: { read_timeout_ms: 5000, body_timeout_ms: 5000 } });
    const answering = rawExchange(up.port, [head(body.length) + body.slice(0, -5)], 8000);
    while (![...up.listener.phases()].includes('body')) await wait(5);
    await wait(50);
    await up.listener.drain.begin();
    const told = toldOf(await answering);
    assert.deepEqual([told.status, told.code, told.id], [503, 'DRAINING', '"half"']);
    await up.close();
  });
});

describe('a message that was read in full', () => {
  test('an answer of a client is refused without an id: it is one that the server chose', async () => {
    const up = await listening({ gate: { decide: () => PASS, decideCall: () => refuse(403) } });
    const legacy = 'MCP-Protocol-Version: 2025-11-25\r\nConnection: close\r\n';
    const ids: (string | undefined)[] = [];
    for (const body of ['{"jsonrpc":"2.0","id":7,"result":{}}', '{"jsonrpc":"2.0","id":7,"method":"ping"}']) {
      const { status, id } = toldOf(await rawExchange(up.port, [whole(body, legacy)], 8000));
      assert.equal(status, 403);
      ids.push(id);
    }
    assert.deepEqual(ids, [undefined, '7']);
    await up.close();
  });
});
