import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { until } from '../support/e2e/until.js';
import { answer, Hearing, type RawUpstream, rawUpstream } from '../support/raw-upstream.js';

const quiet = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const POISON = answer('poison');

/** An exchange that begins in the very moment another one ends. */
class Chained extends Hearing {
  next: Hearing | undefined;
  readonly #up: () => RawUpstream;
  constructor(up: () => RawUpstream) {
    super();
    this.#up = up;
  }
  override onEnd(): void {
    this.next = this.#up().ask('second');
    super.onEnd();
  }
}

/** What the exchange after one hears whose answer is `wires`, each in a read of its own. */
async function following(wires: readonly string[], when: 'at once' | 'soon' | 'later'): Promise<string> {
  const up: RawUpstream = await rawUpstream((socket, request) => {
    if (request.endsWith('second')) socket.write(answer('right'));
    else for (const wire of wires) socket.write(wire, 'latin1');
  });
  const first = new Chained(() => up);
  if (when !== 'at once') first.onEnd = Hearing.prototype.onEnd;
  await up.ask('first', first).done;
  if (when === 'later') await quiet();
  const heard = await (first.next ?? up.ask('second')).done;
  assert.equal(up.accepted.length, 2, 'connections');
  await up.close();
  return heard;
}

describe('upstream: what comes behind an answer', () => {
  const answers: Readonly<Record<string, string>> = {
    'a length': answer('first'),
    chunks: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n',
    'no body': 'HTTP/1.1 204 No Content\r\n\r\n',
    'no body and a length': `HTTP/1.1 204 No Content\r\nContent-Length: ${POISON.length}\r\n\r\n`,
    'a 304 with a length': `HTTP/1.1 304 Not Modified\r\nContent-Length: ${POISON.length}\r\n\r\n`,
    'a 204 with chunks': 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
  };
  for (const [name, wire] of Object.entries(answers)) {
    it(`${name}: is never the answer to the next exchange, whenever that begins`, async () => {
      for (const behind of [POISON, `HTTP/1.1 100 Continue\r\n\r\n${POISON}`, '\r\n', 'x'])
        for (const when of ['at once', 'soon', 'later'] as const)
          for (const wires of [[wire + behind], [wire, behind], [wire.slice(0, -1), wire.slice(-1) + behind]])
            assert.equal(await following(wires, when), '200 right', `${JSON.stringify(wires)} ${when}`);
    });
  }

  it('it is not in a burst of many reads either', async () => {
    const wire = answer('x'.repeat(65_536 * 3));
    for (const when of ['at once', 'soon'] as const) assert.equal(await following([wire + POISON], when), '200 right', when);
    for (let fill = 65_530; fill < 65_540; fill++) {
      const head = 'HTTP/1.1 200 OK\r\nContent-Length: 65400\r\nX: ';
      const whole = `${head}${'y'.repeat(fill - 65_400 - head.length - 4)}\r\n\r\n${'x'.repeat(65_400)}`;
      assert.equal(await following([whole + POISON], 'at once'), '200 right', String(fill));
    }
  });

  it('it is not when it comes after the answer was read, before the next request is', async () => {
    const up: RawUpstream = await rawUpstream(
      (socket, request) => void socket.write(answer(request.endsWith('second') ? 'right' : 'first')),
    );
    const first = new Chained(() => up);
    first.onEnd = function (this: Chained) {
      up.accepted[0]?.write(POISON);
      Chained.prototype.onEnd.call(this);
    };
    await up.ask('first', first).done;
    assert.equal(await first.next?.done, '200 right');
    assert.equal(up.accepted.length, 2);
    await up.close();
  });

  it('bytes on an idle connection close it, and so does its end', async () => {
    const up = await rawUpstream((socket) => void socket.write(answer('x')));
    for (const act of [
      (socket: Socket) => void socket.write(POISON),
      (socket: Socket) => void socket.end(),
      (socket: Socket) => void socket.resetAndDestroy(),
    ]) {
      assert.equal(await up.ask('{}').done, '200 x');
      await quiet();
      assert.equal(up.pool.stats.free, 1);
      for (const socket of up.open) act(socket);
      await until('it is closed', () => up.open.size === 0 && up.pool.stats.free === 0);
    }
    await up.close();
  });

  it('a thousand exchanges on few connections with bursts and stray bytes: each hears its own answer or fails', async () => {
    const up = await rawUpstream((socket, request) => {
      const own = request.slice(request.indexOf('\r\n\r\n') + 4);
      const stray = Number(own) % 7 === 0 ? answer(`stray ${own}`) : '';
      socket.write(answer(own));
      if (stray !== '') socket.write(stray);
    });
    let wrong = 0;
    let failed = 0;
    let asked = 0;
    const worker = async (): Promise<void> => {
      while (asked < 1000) {
        const own = String(asked++);
        const heard = await up.ask(own).done;
        if (heard === `200 ${own}`) continue;
        if (heard.startsWith('200')) wrong++;
        else failed++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    assert.equal(wrong, 0);
    assert.ok(failed < 200, `${failed} failed`);
    assert.ok(up.accepted.length < 500, `${up.accepted.length} connections`);
    await up.close();
  });
});
