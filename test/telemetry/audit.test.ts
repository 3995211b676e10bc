import assert from 'node:assert/strict';
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import type { AuditEvent } from '../../src/contract/audit.js';
import { type AuditOptions, createAudit } from '../../src/telemetry/audit.js';
import { type AuditSink, createFileSink, createStreamSink } from '../../src/telemetry/audit-sink.js';
import { makeClock } from '../../src/testing/clock.js';

const event: AuditEvent = {
  request_id: 'r1',
  route: '/files/mcp',
  gate: 'token',
  verdict: 'refused',
  code: 'TOKEN_EXPIRED',
  status: 401,
  identity: { issuer: 'https://id.example', principal: 'alice' },
  method: 'tools/call',
  tool: 'read_file',
  client_address: '203.0.113.9',
};

function setUp(sink: AuditSink, change: Partial<AuditOptions> = {}) {
  const clock = makeClock(Date.UTC(2030, 0, 2, 3, 4, 5, 678));
  const state = { dropped: 0, failures: [] as string[] };
  const audit = createAudit({
    sink,
    clock,
    principal: 'as_is',
    admissions: false,
    dropped: { add: (_, count = 1) => void (state.dropped += count) },
    failed: (error, lines) => void state.failures.push(`${(error as Error).message} ${lines}`),
    ...change,
  });
  return { audit, clock, state };
}

function memorySink() {
  const texts: string[] = [];
  return { texts, write: async (text: string) => void texts.push(text), close: async () => undefined };
}

/** A sink that takes nothing until it is let go. */
function heldSink() {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const texts: string[] = [];
  return {
    texts,
    go,
    async write(text: string) {
      await held;
      texts.push(text);
    },
    close: async () => undefined,
  };
}

describe('audit', () => {
  it('writes one line for a denial, with exactly these fields', async () => {
    const sink = memorySink();
    const { audit } = setUp(sink);
    audit.decided(event);
    await audit.close(1_000);
    assert.deepEqual(sink.texts, [
      '{"time":"2030-01-02T03:04:05.678Z","request_id":"r1","route":"/files/mcp","gate":"token","verdict":"refused","code":"TOKEN_EXPIRED",' +
        '"status":401,"issuer":"https://id.example","principal":"alice","method":"tools/call","tool":"read_file","client_address":"203.0.113.9"}\n',
    ]);
  });

  it('writes admissions only when asked to', async () => {
    for (const admissions of [false, true]) {
      const sink = memorySink();
      const { audit } = setUp(sink, { admissions });
      audit.decided({ ...event, verdict: 'admitted', code: '', status: 0 });
      audit.decided({ ...event, verdict: 'failed' });
      await audit.close(1_000);
      assert.equal(sink.texts.join('').split('\n').length - 1, admissions ? 2 : 1);
    }
  });

  it('hides the caller behind a pseudonym that depends on issuer and principal', async () => {
    const sink = memorySink();
    const { audit } = setUp(sink, { principal: 'sha256' });
    audit.decided(event);
    audit.decided({ ...event, identity: { issuer: 'https://other.example', principal: 'alice' } });
    audit.decided({ ...event, identity: undefined });
    await audit.close(1_000);
    const lines = sink.texts
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(lines[0].principal, 'sha256:345794e1bae062269a8796a7313dbed5f5d151d6272282749a4307871eccc5f9');
    assert.match(lines[1].principal, /^sha256:[0-9a-f]{64}$/);
    assert.notEqual(lines[1].principal, lines[0].principal);
    assert.equal('principal' in lines[2], false);
    assert.doesNotMatch(sink.texts.join(''), /alice|id\.example/);
  });

  it('keeps what a client chose inside one line, cut', async () => {
    const sink = memorySink();
    const { audit } = setUp(sink);
    audit.decided({ ...event, method: 'a\n{"verdict":"admitted"}', tool: 't'.repeat(5_000) });
    await audit.close(1_000);
    const text = sink.texts.join('');
    assert.equal(text.split('\n').length, 2);
    assert.equal(JSON.parse(text).tool.length, 257);
  });

  it('never waits for a slow sink: 10 000 lines wait, the rest is dropped and counted', async () => {
    const sink = heldSink();
    const { audit, state } = setUp(sink);
    for (let i = 0; i < 12_000; i += 1) audit.decided({ ...event, request_id: `r${i}` });
    assert.equal(state.dropped, 2_000);
    sink.go();
    await audit.close(1_000);
    const lines = sink.texts.join('').trim().split('\n');
    assert.equal(lines.length, 10_000);
    assert.equal(JSON.parse(lines[9_999] ?? '').request_id, 'r9999');
    assert.equal(state.dropped, 2_000);
  });

  it('bounds the memory that waits, not only the lines', () => {
    const { audit, state } = setUp(heldSink());
    for (let i = 0; i < 9_000; i += 1) audit.decided({ ...event, method: 'm'.repeat(256), tool: 't'.repeat(256) });
    assert.ok(state.dropped > 1_000 && state.dropped < 9_000, String(state.dropped));
  });

  it('ends at its deadline when the sink hangs, and counts what it lost', async () => {
    const { audit, clock, state } = setUp(heldSink());
    audit.decided(event);
    audit.decided(event);
    await Promise.resolve();
    const closing = audit.close(2_000);
    clock.advance(2_000);
    await closing;
    assert.equal(state.dropped, 2);
    audit.decided(event);
    assert.equal(state.dropped, 3);
    assert.equal(clock.pending, 0);
  });

  it('counts and tells what a failing sink lost, and goes on', async () => {
    const texts: string[] = [];
    let broken = true;
    const { audit, state } = setUp({
      async write(text) {
        if (broken) throw new Error('disk full');
        texts.push(text);
      },
      close: async () => undefined,
    });
    audit.decided(event);
    audit.decided(event);
    await new Promise((resolve) => setImmediate(resolve));
    broken = false;
    audit.decided(event);
    await audit.close(1_000);
    assert.deepEqual(state, { dropped: 2, failures: ['disk full 2'] });
    assert.equal(texts.length, 1);
  });
});

describe('audit sinks', () => {
  it('a file is appended to, readable by its owner only, and opened anew when it was renamed, removed or closed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'audit-'));
    try {
      const path = join(folder, 'audit.log');
      const sink = createFileSink(path);
      await sink.write('one\n');
      await sink.write('two\n');
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      await rename(path, join(folder, 'audit.1'));
      await sink.write('three\n');
      await sink.close();
      await rm(path);
      await sink.write('four\n');
      await sink.write('five\n');
      await rm(path);
      await sink.write('six\n');
      await sink.close();
      assert.equal(await readFile(join(folder, 'audit.1'), 'utf8'), 'one\ntwo\n');
      assert.equal(await readFile(path, 'utf8'), 'six\n');
      await assert.rejects(createFileSink(join(folder, 'none', 'audit.log')).write('x'), { code: 'ENOENT' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('a stream is written to and left open', async () => {
    let text = '';
    const stream = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    const sink = createStreamSink(stream);
    await sink.write('one\n');
    await sink.close();
    assert.equal(text, 'one\n');
    assert.equal(stream.writableEnded, false);
  });

  it('a broken stream is a failed write', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    stream.on('error', () => undefined);
    await assert.rejects(createStreamSink(stream).write('x'), { message: 'EPIPE' });
  });
});
