import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html } from '../../src/page/html.js';
import { bytes, counts, duration, moment, number, prose, total } from '../../src/page/words.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('words of the status page', () => {
  it('numbers have groups, bytes and durations a unit', () => {
    assert.deepEqual([number(0), number(999), number(1234567)], ['0', '999', '1\u202f234\u202f567']);
    assert.deepEqual([bytes(0), bytes(1536), bytes(200 * 1024 * 1024)], ['0\u00a0B', '1.5\u00a0KiB', '200\u00a0MiB']);
    assert.deepEqual([-1, 59_999, 60_000, 3_660_000, 90_000_000].map(duration), [
      '0\u00a0s',
      '59\u00a0s',
      '1\u00a0min',
      '1\u00a0h 1\u00a0min',
      '1\u00a0d 1\u00a0h',
    ]);
  });

  it('a moment is UTC, with the date when it is another day', () => {
    assert.equal(
      moment(NOW - 65_000, NOW).toString(),
      '<time datetime="2026-01-02T03:03:00.000Z">03:03:00</time> <small class="line inline">1\u00a0min ago</small>',
    );
    assert.match(moment(NOW - 86_400_000, NOW).toString(), />2026-01-01 03:04:05</);
  });

  it('prose shows what stands between backticks as code, and escapes it', () => {
    assert.equal(prose('Use `<a>` & no other.').join(''), 'Use <code>&lt;a&gt;</code> & no other.');
    assert.equal(html`${prose('Use `<a>` & no other.')}`.toString(), 'Use <code>&lt;a&gt;</code> &amp; no other.');
  });

  it('counts leave out what is zero', () => {
    assert.equal(counts({ ok: 2, refused: 0, timeout: 1 }), '2 ok, 1 timeout');
    assert.deepEqual([counts({}), counts({ ok: 0 }), total({ a: 1, b: 2 })], ['–', '–', 3]);
  });
});
