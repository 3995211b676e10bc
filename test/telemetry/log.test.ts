import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog, type LogLevel } from '../../src/telemetry/log.js';
import { createRefusalLog } from '../../src/telemetry/repeat-limit.js';
import { makeClock } from '../../src/testing/clock.js';

function setUp(format: 'json' | 'pretty' = 'json', level: LogLevel = 'info') {
  const lines: string[] = [];
  const clock = makeClock(Date.UTC(2030, 0, 2, 3, 4, 5, 678));
  return { lines, clock, log: createLog({ level, format, write: (line) => lines.push(line), clock }) };
}

const jwt = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.${'s'.repeat(40)}`;

describe('log', () => {
  it('writes one JSON object a line, with the clock’s time', () => {
    const { lines, log } = setUp();
    log.info({ route: '/files/mcp', count: 3 }, 'route is ready');
    assert.deepEqual(lines, [
      '{"level":"info","time":"2030-01-02T03:04:05.678Z","route":"/files/mcp","count":3,"message":"route is ready"}\n',
    ]);
  });

  it('leaves out what is below its level', () => {
    const { lines, log } = setUp('json', 'warn');
    log.debug({}, 'a');
    log.info({}, 'b');
    log.warn({}, 'c');
    log.error({}, 'd');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).message),
      ['c', 'd'],
    );
  });

  it('gives a child’s fields to each of its lines, without secrets', () => {
    const { lines, log } = setUp();
    log.child({ gate: 'token', client_secret: 'hunter2' }).child({ route: '/a' }).warn({ n: 1 }, 'x');
    assert.deepEqual(JSON.parse(lines[0] ?? ''), {
      level: 'warn',
      time: '2030-01-02T03:04:05.678Z',
      gate: 'token',
      client_secret: '[redacted]',
      route: '/a',
      n: 1,
      message: 'x',
    });
  });

  it('never shows a secret, by its key or by its look', () => {
    const { lines, log } = setUp();
    const headers = { Authorization: 'Bearer abcdefgh12345', 'Set-Cookie': ['sid=1'], 'x-api-key': 'k1', accept: '*/*' };
    log.error(
      {
        headers,
        deep: [{ refresh_token: 'rt', token_age_ms: 12 }],
        'Mcp-Session-Id': 's-1',
        url: `https://idp.example/?assertion=${jwt}`,
        failure: new Error(`bad token ${jwt}`, { cause: new Error('sent Bearer abcdefgh12345') }),
      },
      `could not verify ${jwt}`,
    );
    const text = lines.join('');
    for (const secret of ['abcdefgh12345', 'sid=1', 'k1', '"rt"', 's-1', 'eyJ']) assert.ok(!text.includes(secret), `${secret} in ${text}`);
    const line = JSON.parse(text);
    assert.deepEqual(line.headers, { Authorization: '[redacted]', 'Set-Cookie': '[redacted]', 'x-api-key': '[redacted]', accept: '*/*' });
    assert.deepEqual(line.deep, [{ refresh_token: '[redacted]', token_age_ms: 12 }]);
    assert.equal(line.failure.message, 'bad token [redacted]');
    assert.equal(line.failure.cause.message, 'sent [redacted]');
    assert.equal(line.message, 'could not verify [redacted]');
  });

  it('bounds what it writes, however large, deep or odd the fields', () => {
    const { lines, log } = setUp();
    const loop: Record<string, unknown> = { name: 'loop' };
    loop.self = loop;
    log.info(
      {
        loop,
        long: 'x'.repeat(100_000),
        many: Array.from({ length: 10_000 }, (_, i) => i),
        big: 2n ** 70n,
        bytes: new Uint8Array(9),
        run: () => 1,
        gone: undefined,
        set: new Set(['a']),
      },
      'y'.repeat(100_000),
    );
    assert.ok((lines[0]?.length ?? 0) < 8_000, String(lines[0]?.length));
    const line = JSON.parse(lines[0] ?? '');
    assert.equal(line.long.length, 2_001);
    assert.equal(line.many.length, 100);
    assert.equal(line.loop.self.self.self.self.self, '[deep]');
    assert.deepEqual(
      [line.big, line.bytes, line.run, line.set, 'gone' in line],
      ['1180591620717411303424', '[9 bytes]', '[function]', ['a'], false],
    );
  });

  it('bounds all values of a line together, not only each list', () => {
    const { lines, log } = setUp();
    const grid = Array.from({ length: 50 }, (_, row) => Array.from({ length: 50 }, (_, column) => `${row}.${column}`));
    log.info({ grid, cube: Array.from({ length: 50 }, () => grid) }, 'x');
    assert.ok((lines[0]?.length ?? 0) < 10_000, String(lines[0]?.length));
    const line = JSON.parse(lines[0] ?? '');
    assert.deepEqual([line.grid.length, line.grid[0].length, line.grid.at(-1).at(-1)], [10, 50, '9.38']);
    assert.equal('cube' in line, false);
  });

  it('does not throw when its pipe is broken', () => {
    const log = createLog({
      level: 'info',
      format: 'json',
      clock: makeClock(),
      write() {
        throw new Error('EPIPE');
      },
    });
    log.info({}, 'x');
  });

  it('is readable on a terminal and lets nobody write control characters there', () => {
    const { lines, log } = setUp('pretty');
    log.warn({ route: '/files/mcp', path: '/x\u001b[2J\u202e\n12:00:00 ERROR forged', n: 1 }, 'request refused');
    assert.deepEqual(lines, [
      '03:04:05.678 WARN  request refused  route=/files/mcp  path="/x\\u001b[2J\\u{202e}\\n12:00:00 ERROR forged"  n=1\n',
    ]);
  });

  it('shows the stack of an error on a terminal', () => {
    const { lines, log } = setUp('pretty');
    log.error({ error: new Error('no') }, 'gate failed');
    assert.match(lines[0] ?? '', /^03:04:05.678 ERROR gate failed {2}error=Error: no\n {8}at /);
  });
});

describe('refusal log', () => {
  const refused = {
    request_id: 'r1',
    status: 403,
    code: 'NOT_IN_LIST',
    route: '/files/mcp',
    gate: 'edge',
    http_method: 'POST',
    path: `/files/mcp${'x'.repeat(300)}`,
    client_address: '203.0.113.9',
  };

  it('writes the shape of a refusal with its path cut', () => {
    const { lines, log, clock } = setUp();
    createRefusalLog(log, clock)({ ...refused, detail: 'the address is not allowed' });
    const line = JSON.parse(lines[0] ?? '');
    assert.equal(line.path.length, 201);
    assert.deepEqual(
      { ...line, path: '' },
      {
        level: 'warn',
        time: '2030-01-02T03:04:05.678Z',
        ...refused,
        path: '',
        detail: 'the address is not allowed',
        message: 'request refused',
      },
    );
  });

  it('tells a flood by its number and still shows other refusals', () => {
    const { lines, log, clock } = setUp();
    const tell = createRefusalLog(log, clock);
    for (let i = 0; i < 1_000; i += 1) tell(refused);
    tell({ ...refused, code: 'OTHER' });
    assert.equal(lines.length, 11);
    clock.advance(10_000);
    tell(refused);
    assert.equal(lines.length, 12);
    assert.equal(JSON.parse(lines[11] ?? '').left_out, 990);
    tell(refused);
    assert.equal('left_out' in JSON.parse(lines[12] ?? ''), false);
  });

  it('says error when the fault is ours', () => {
    const { lines, log, clock } = setUp();
    createRefusalLog(log, clock)({ ...refused, status: 500, code: 'GATE_FAILED' });
    assert.equal(JSON.parse(lines[0] ?? '').level, 'error');
  });
});
