import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { until } from '../../support/e2e/until.js';
import { modernCall } from '../../support/proxied-bench.js';
import { closeBenches, eventsOf, messageOf, openStdio, textOf } from '../../support/stdio/bench.js';

const rawCall = (id: string, name: string, args: string, meta = '') => {
  const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}${meta}}}`;
  return modernCall('tools/call', { name }, { over: { id, body: Buffer.from(body) } });
};

describe('stdio: calls', () => {
  afterEach(closeBenches);

  for (const mode of ['legacy', 'modern'])
    it(`a ${mode} child gets and gives numbers untouched, and every id comes back with its type and digits`, async () => {
      const bench = await openStdio(mode);
      const args = '{"id":9223372036854775807,"x":1.10,"e":1E400}';
      const ids = ['1', '"1"', '0', '""', '-5', '9007199254740993', '"a\\u2028b"'];
      const answers = await Promise.all(ids.map((id) => bench.send(rawCall(id, 'echo', args)).done));
      for (const [index, { by, status, body, headers }] of answers.entries()) {
        assert.deepEqual([by, status, headers], ['respond', 200, ['content-type', 'application/json']]);
        const text = body.toString();
        assert.ok(text.startsWith(`{"jsonrpc":"2.0","id":${ids[index]},"result":{`), text);
        assert.ok(text.includes(`"structuredContent":${args}`), text);
      }
    });

  it('equal ids of two clients at once: each gets its own answer, on the shared child and within one session', async () => {
    const bench = await openStdio('legacy');
    const session = await bench.session();
    for (const tool of [bench.tool, session.tool]) {
      const [a, b] = [tool('sleep_echo', { ms: 100, v: 'A' }), tool('sleep_echo', { ms: 10, v: 'B' })];
      assert.deepEqual([textOf(await a.done), textOf(await b.done)], ['A', 'B']);
      assert.deepEqual([messageOf(await a.done).id, messageOf(await b.done).id], [1, 1]);
    }
  });

  it('characters cut by chunks are whole, and a line of 300 000 bytes is one answer', async () => {
    const bench = await openStdio('legacy');
    await bench.tool('count').done;
    await bench.settled({ calls: 0 });
    assert.equal(textOf(await bench.tool('bytewise').done), 'a — b 😀');
    assert.equal(textOf(await bench.tool('wide').done), '€'.repeat(100_000));
    assert.deepEqual(bench.junk, []);
  });

  it('a body with line breaks and line separators is one line for the child', async () => {
    const bench = await openStdio('legacy');
    const body =
      '{"jsonrpc":"2.0",\r\n "id":7,\n "method":"tools/call","params":{"name":"sleep_echo",\n"arguments":{"ms":0,"v":"x\u2028{}\u0085"}}}\n';
    const answer = await bench.send(modernCall('tools/call', { name: 'sleep_echo' }, { over: { id: '7', body: Buffer.from(body) } })).done;
    assert.equal(textOf(answer), 'x\u2028{}\u0085');
  });

  it('progress goes to the calling stream only, with the client’s own token; none without one, none after the end', async () => {
    const bench = await openStdio('legacy');
    const meta = ',"_meta":{"progressToken":"p-1"}';
    const call = (token: string | undefined) => {
      const base = rawCall('1', 'progress', '{"steps":3,"ms":20}', token === undefined ? '' : meta);
      return bench.send({ ...base, progress_token: token });
    };
    const [one, two, none] = [call('"p-1"'), call('"p-1"'), call(undefined)];
    for (const exchange of [one, two]) {
      const { by, body } = await exchange.done;
      assert.equal(by, 'events');
      const events = eventsOf(body.toString()).map((text) => JSON.parse(text));
      assert.deepEqual(
        events.slice(0, 3).map(({ params }) => params),
        [1, 2, 3].map((progress) => ({ progressToken: 'p-1', progress, total: 3, extra: 'kept' })),
      );
      assert.equal(events.length, 4);
      assert.equal(exchange.progress_count, 3);
    }
    assert.equal((await none.done).by, 'respond');
    await until('what came late was counted', () => bench.junk.filter((reason) => reason === 'late').length === 2);
  });

  it('a client that leaves or a deadline tells the child which call, by the id that the child saw', async () => {
    const bench = await openStdio('modern');
    const [first, second] = [bench.tool('hang'), bench.tool('hang')];
    assert.equal(textOf(await bench.tool('count').done), '1');
    first.cancel('client');
    second.cancel('deadline');
    const seen = JSON.parse(textOf(await bench.tool('cancelled').done));
    assert.deepEqual(seen, [3, 4]);
    await bench.settled({ calls: 0 });
  });

  for (const mode of ['legacy', 'modern'])
    it(`Mcp-Param headers that do not say what the arguments say are refused for a ${mode} child, which cannot see them`, async () => {
      const bench = await openStdio(mode);
      await bench.tool('count').done;
      const call = (args: object, headers: Readonly<Record<string, string>>) => bench.tool('mirrored', args, { headers }).done;
      assert.equal(textOf(await call({ v: 'é' }, { 'Mcp-Param-V': '=?base64?w6k=?=' })), 'é');
      for (const [args, headers] of [
        [{ v: 'a' }, { 'Mcp-Param-V': 'b' }],
        [{ v: 'a' }, {}],
        [{}, { 'Mcp-Param-V': 'b' }],
      ] as const) {
        const { status, error } = await call(args, headers);
        assert.deepEqual([status, error?.code], [400, 'HEADER_MISMATCH']);
      }
      assert.equal(
        textOf(await bench.tool('count', {}, { headers: { 'Mcp-Param-V': 'x' } }).done),
        '2',
        'no argument of this tool is mirrored',
      );
    });

  it('junk is skipped and counted, standard error is drained, and the good answer comes', async () => {
    const bench = await openStdio('legacy');
    await bench.tool('count').done;
    await bench.settled({ calls: 0 });
    assert.equal(textOf(await bench.tool('junk').done), 'good');
    assert.deepEqual(bench.junk, ['no_message', 'no_message', 'no_message', 'unknown_id', 'no_message', 'too_long']);
    await bench.runtime.close(2000);
    assert.equal(bench.junk.length, 6, 'half a line at the end is none of ours any more');
  });

  it('ten megabytes on standard error are drained, few of them are logged, and nothing is taken for a failure', async () => {
    const bench = await openStdio('legacy');
    assert.equal(textOf(await bench.tool('noise', { mb: 10 }).done), 'quiet');
    assert.ok(bench.log.lines.length < 60, `${bench.log.lines.length} log lines`);
    assert.equal(bench.runtime.health, 'ready');
  });

  it('an answer that is none ends its call at once', async () => {
    const bench = await openStdio('legacy');
    assert.equal((await bench.tool('bad_answer').done).error?.code, 'UPSTREAM_BROKEN');
  });

  it('an answer over max_line_bytes ends its call at once, wherever its id stands, and a warning tells its size', async () => {
    const bench = await openStdio('legacy', { max_line_bytes: 100_000 });
    await bench.tool('count').done;
    await bench.settled({ calls: 0 });
    const early = bench.tool('long', { order: 'id_first', bytes: 150_000, ms: 60_000 });
    assert.equal((await early.done).error?.code, 'UPSTREAM_BROKEN', 'its line never ends');
    const session = await bench.session();
    for (const [order, bytes] of [
      ['id_first', 150_000],
      ['id_last', 350_000],
    ] as const) {
      const answer = await session.tool('long', { order, bytes }).done;
      assert.deepEqual([answer.status, answer.error?.code], [502, 'UPSTREAM_BROKEN'], order);
    }
    const refused = await session.tool('long', { order: 'request', method: 'roots/list', bytes: 150_000 }).done;
    assert.match(textOf(refused), /-32600/, 'a question that is too long is answered, and is nobody’s answer');
    assert.deepEqual(bench.junk, ['too_long', 'too_long', 'too_long']);
    const warnings = bench.log.lines.filter(({ message }) => message.includes('max_line_bytes'));
    assert.deepEqual(
      warnings.map(({ level, fields }) => [level, Number(fields.bytes) > 150_000, fields.max_line_bytes]),
      Array(3).fill(['warn', true, 100_000]),
    );
    assert.equal(textOf(await session.tool('count').done), '1', 'the child goes on');
  });

  it('one more than max_pending is OVERLOADED', async () => {
    const bench = await openStdio('legacy', { max_pending: 2 });
    await bench.tool('count').done;
    const held = [bench.tool('hang'), bench.tool('hang')];
    const { status, error } = await bench.tool('count').done;
    assert.deepEqual([status, error?.code], [503, 'OVERLOADED']);
    for (const exchange of held) exchange.cancel('client');
    assert.equal(textOf(await bench.tool('count').done), '2');
  });

  it('a child gets a short environment, its own folder and no descriptor of ours', async () => {
    const own = { GW_SECRET: 'x', NODE_OPTIONS: '--inspect', HOME: '/root', LANG: 'C.UTF-8', TMPDIR: '/tmp', USER: 'me' };
    const bench = await openStdio('legacy', { env: { NOTES: 'n', LANG: 'C' }, cwd: '/tmp' }, own);
    const seen = JSON.parse(textOf(await bench.tool('environment').done));
    assert.deepEqual(Object.keys(seen.env).sort(), ['HOME', 'LANG', 'NOTES', 'PATH', 'TMPDIR', 'USER']);
    assert.deepEqual([seen.env.LANG, seen.env.NOTES, seen.cwd], ['C', 'n', '/tmp']);
    const sockets = Object.entries(seen.fds).filter(([, link]) => String(link).startsWith('socket:'));
    assert.deepEqual(
      sockets.map(([fd]) => fd),
      ['0', '1', '2'],
      'the three pipes are all that it has of ours',
    );
    const foreign = Object.values(seen.fds).filter((link) => !/^(pipe:|socket:|anon_inode:|\/dev\/null|\/proc\/)/.test(String(link)));
    assert.deepEqual(foreign, []);
  });

  it('who calls is told on routes that say so, and a client’s own claim never passes', async () => {
    const bench = await openStdio('modern');
    const forged = (route: object) => ({
      route,
      identity: { principal: 'alice' },
      over: {
        body: Buffer.from(
          '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"meta","_meta":{"portcullis/identity":{"sub":"root"},"k":1.0}}}',
        ),
      },
    });
    const told = await bench.tool('meta', {}, forged({ forward_identity_header: 'x-who' })).done;
    assert.deepEqual(JSON.parse(textOf(told)), { k: 1, 'portcullis/identity': { iss: 'https://id.example.com', sub: 'alice', scope: '' } });
    assert.deepEqual(JSON.parse(textOf(await bench.tool('meta', {}, forged({})).done)), { k: 1 });
  });
});
