import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { Live } from '../../src/page/live.js';
import { makeClock } from '../../src/testing.js';

/** A response that remembers what was written. */
class FakeResponse extends EventEmitter {
  text = '';
  status = 0;
  ended = false;
  writableLength = 0;
  writeHead(status: number): void {
    this.status = status;
  }
  write(text: string): void {
    this.text += text;
  }
  end(text: string): void {
    this.text += text;
    this.ended = true;
  }
  destroy(): void {
    this.emit('close');
  }
  /** What was written since the last time. */
  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

function rig() {
  const clock = makeClock();
  const parts = new Map([
    ['a', '1'],
    ['b', '1'],
  ]);
  const count = { renders: 0 };
  const render = () => {
    count.renders += 1;
    if (parts.get('a') === 'broken') throw new Error('broken');
    return new Map(parts);
  };
  const live = new Live({ clock, render, max_watchers: 2, period_ms: 2000 });
  const watch = () => {
    const response = new FakeResponse();
    return { response, taken: live.watch(response as unknown as ServerResponse) };
  };
  return { clock, parts, count, live, watch };
}

const part = (id: string, html: string): string => `event: part\ndata: ${JSON.stringify({ id, html })}\n\n`;

describe('the live page', () => {
  it('sends every part at once, then what changed, and a comment when nothing did', () => {
    const { clock, parts, watch } = rig();
    const { response } = watch();
    assert.equal(response.status, 200);
    assert.equal(response.take(), `retry: 5000\n\n${part('a', '1')}${part('b', '1')}`);
    clock.advance(2000);
    assert.equal(response.take(), ':\n\n');
    parts.set('b', '<p>"2"</p>\n');
    clock.advance(2000);
    assert.equal(response.take(), part('b', '<p>"2"</p>\n'));
  });

  it('a later watcher takes no change from an earlier one', () => {
    const { clock, parts, watch } = rig();
    const first = watch().response;
    first.take();
    parts.set('a', '2');
    const second = watch().response;
    assert.match(second.take(), /"html":"2"/);
    clock.advance(2000);
    assert.equal(first.take(), part('a', '2'));
  });

  it('renders nothing when nobody looks, and renders once for all', () => {
    const { clock, count, live, watch } = rig();
    clock.advance(60_000);
    assert.equal(count.renders, 0);
    const [one, two] = [watch().response, watch().response];
    count.renders = 0;
    clock.advance(2000);
    assert.equal(count.renders, 1);
    one.destroy();
    two.destroy();
    clock.advance(60_000);
    assert.deepEqual([count.renders, live.watchers, clock.pending], [1, 0, 0]);
  });

  it('takes no more watchers than it may, and cuts off who does not read', () => {
    const { clock, live, watch } = rig();
    const [first, , third] = [watch(), watch(), watch()];
    assert.deepEqual([third.taken, third.response.status, live.watchers], [false, 0, 2]);
    first.response.writableLength = 2_000_000;
    clock.advance(2000);
    assert.equal(live.watchers, 1);
    assert.equal(watch().taken, true);
  });

  it('a part that cannot be made does not end anything', () => {
    const { clock, parts, watch } = rig();
    const { response } = watch();
    response.take();
    parts.set('a', 'broken');
    clock.advance(2000);
    assert.equal(response.take(), ':\n\n');
  });

  it('says that it is over, with the last state, and takes nobody after that', () => {
    const { clock, parts, live, watch } = rig();
    const { response } = watch();
    response.take();
    parts.set('a', 'closed');
    live.close();
    live.close();
    assert.equal(response.take(), `${part('a', 'closed')}event: end\ndata: {}\n\n`);
    assert.deepEqual([response.ended, live.watchers, clock.pending, watch().taken], [true, 0, 0, false]);
  });
});
