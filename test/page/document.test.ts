import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Script } from 'node:vm';
import type { Explanation } from '../../src/explain/explain.js';
import { explainPage, statusPage } from '../../src/page/document.js';
import { explanationOf } from '../../src/page/explanation.js';
import { PARTS } from '../../src/page/parts.js';
import { SCRIPT } from '../../src/page/script.js';
import { STYLE } from '../../src/page/style.js';
import { problemsOf } from '../../src/status/status.js';
import { HOSTILE, poisoned, statusWith } from '../support/status.js';

const EXPLANATION: Explanation = {
  steps: [
    { by: 'route', verdict: 'ok', code: '', milliseconds: 0 },
    { by: HOSTILE, verdict: 'refuse', code: HOSTILE, milliseconds: 1.25 },
  ],
  outcome: 'admitted',
  status: 0,
  code: HOSTILE,
  why: HOSTILE,
  remedy: HOSTILE,
  headers: { [HOSTILE]: [HOSTILE, HOSTILE] },
  identity: { issuer: HOSTILE, principal: HOSTILE, client: HOSTILE, scopes: [HOSTILE], expires_at_ms: 0 },
  facts: [HOSTILE],
};

/** What a strict policy would refuse, and what a hostile text would have made of the page. */
function assertClean(page: string): void {
  assert.deepEqual(page.match(/<script[^>]*>/g), ['<script src="/status.js" defer>']);
  assert.doesNotMatch(page, /<style|<img|<iframe|\sstyle=|\son\w+="|javascript:|\u202e/);
  assert.doesNotMatch(page.replaceAll(/&lt;.*?&gt;/g, ''), /onerror/);
}

describe('the status page', () => {
  it('escapes every text of the state, in every part', () => {
    const status = poisoned(
      statusWith({ recent: statusWith().recent, problems: problemsOf(statusWith({ ready: false, reason: HOSTILE })) }),
    );
    const page = statusPage(status, true).toString();
    assertClean(page);
    assert.ok(page.split('&lt;script&gt;alert(1)&lt;/script&gt;').length > 20);
    const third_party = poisoned(statusWith({ recent: statusWith().recent.map((row) => ({ ...row, code: HOSTILE })) }));
    assertClean(statusPage(third_party, true).toString());
  });

  it('escapes every text of an explanation and of what was asked', () => {
    const asked = {
      route: HOSTILE,
      method: HOSTILE,
      tool: HOSTILE,
      address: HOSTILE,
      via: HOSTILE,
      http_method: HOSTILE,
      revision: HOSTILE,
    };
    for (const outcome of ['admitted', 'refused', 'served'] as const)
      assertClean(explainPage(statusWith(), asked, explanationOf({ ...EXPLANATION, outcome })).toString());
  });

  it('says first whether it serves and what is wrong, with a link to where', () => {
    const broken = statusWith({
      runtimes: [{ name: 'files', kind: 'proxied', health: 'degraded', restarts: {}, answers: {} }],
      reloads: { succeeded: 0, failed: 1, last: { at_ms: 0, outcome: 'failed', restart: [], problems: ['p.yaml:1:1 listener: wrong'] } },
    });
    const page = statusPage({ ...broken, problems: problemsOf(broken) }, true).toString();
    assert.match(page, /Serving, with trouble/);
    assert.match(page, /<a href="#runtimes">Runtime files \(proxied\) does not answer\.<\/a>/);
    assert.match(page, /p\.yaml:1:1 listener: wrong/);
    assert.match(statusPage(statusWith(), true).toString(), /Serving<\/span>.*Nothing is known to be wrong/s);
    for (const [, id] of page.matchAll(/href="#([\w-]+)"/g)) assert.ok(page.includes(` id="${id}"`), id);
  });

  it('shows how far a drain is', () => {
    const drain = {
      state: 'closing',
      remaining: 3,
      began_at_ms: statusWith().at_ms - 2000,
      of: 12,
      delay_ms: 1000,
      timeout_ms: 9000,
    } as const;
    const page = statusPage(statusWith({ ready: false, reason: 'closing', drain }), false).toString();
    assert.match(page, /Draining/);
    assert.match(page, /9 of 12 connections are gone/);
    assert.match(page, /<progress id="drained" max="12" value="9">/);
    assert.match(page, /2\u00a0s of at most 10\u00a0s/);
  });

  it('has landmarks, one heading of the first rank, a label for every field and a header for every column and row', () => {
    const page = statusPage(statusWith(), true).toString();
    for (const landmark of ['<header>', '<nav aria-label=', '<main id="main">', '<footer>'])
      assert.equal(page.split(landmark).length, 2, landmark);
    assert.equal(page.match(/<h1/g)?.length, 1);
    for (const [, id] of page.matchAll(/<(?:input|textarea)[^>]* id="([\w-]+)"/g)) assert.ok(page.includes(`<label for="${id}">`), id);
    for (const [, rows = ''] of page.matchAll(/<tbody[^>]*>(.*?)<\/tbody>/gs))
      for (const row of rows.split('</tr>').slice(0, -1)) assert.equal(row.match(/<th role="rowheader" scope="row"/g)?.length, 1);
    assert.equal(page.match(/<table/g)?.length, page.match(/<caption/g)?.length);
    const ids = [...page.matchAll(/ id="([\w-]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('folds many processes into their number and memory', () => {
    const processes = Array.from({ length: 5 }, (_, at) => ({ pid: 40 + at, rss_bytes: 1_048_576 }));
    const runtime = { name: 'a', kind: 'stdio', health: 'ready', restarts: { crash: 2 }, answers: {} } as const;
    const page = (count: number) =>
      statusPage(
        statusWith({ runtimes: [{ ...runtime, children: { sessions: 1, pending: 0, processes: processes.slice(0, count) } }] }),
        false,
      ).toString();
    assert.match(page(5), /<summary>5 processes, 5\.0\u00a0MiB<\/summary>.*pid 44/s);
    assert.match(page(4), /restarts: 2 crash/);
    assert.doesNotMatch(page(4), /processes,/);
  });

  it('Explain is there only when it is on', () => {
    assert.match(statusPage(statusWith(), true).toString(), /action="\/status\/explain"/);
    assert.doesNotMatch(statusPage(statusWith(), false).toString(), /explain/);
  });

  it('every part says something when there is nothing to say', () => {
    const empty = statusWith({ routes: [], gates: [], runtimes: [], keys: [], recent: [], connections: {} });
    for (const { id, render } of PARTS) assert.ok(render(empty).toString().length > 20, id);
  });

  it('its script is one that a browser can read, and its style names no other host', () => {
    assert.doesNotThrow(() => new Script(SCRIPT));
    assert.doesNotMatch(STYLE + SCRIPT, /https?:|url\(|@import|innerHTML = (?!html;)|eval/);
  });
});
