// The status page in a real Chromium: with and without JavaScript, light and dark, desktop and phone. Nothing that a strict policy
// refuses, no error on the console. Screenshots go to .tmp/status-page, or to the folder that SHOTS names.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { createOps } from '../../src/listener/ops.js';
import { createPage } from '../../src/page/page.js';
import { systemClock } from '../../src/system-clock.js';
import { startChromium } from '../support/e2e/chromium.js';
import { type StatusRig, startStatusRig } from '../support/e2e/status-rig.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { send, tool } from '../support/send.js';
import { HOSTILE, poisoned, statusWith } from '../support/status.js';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const SHOTS = resolve(process.env.SHOTS ?? repositoryPath('.tmp/status-page'));

let rig: StatusRig;
let browser: Browser;
let status_url: string;

before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  rig = await startStatusRig();
  browser = await startChromium();
  status_url = `${rig.gateway.ops_url}/status`;
});

after(async () => {
  await browser?.close();
  await rig?.close();
});

/** Opens the page, lets `use` look at it, and fails when the console said anything but `expected`. */
async function withPage(
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
  expected: readonly string[] = [],
  url = status_url,
): Promise<void> {
  const context = await browser.newContext(options);
  const said: string[] = [];
  try {
    const page = await context.newPage();
    page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => said.push(String(error)));
    page.on('requestfailed', (request) => {
      if (!request.url().endsWith('/status/events')) said.push(`failed: ${request.url()}`);
    });
    await page.goto(url);
    await use(page);
    assert.deepEqual(said, expected);
  } finally {
    await context.close();
  }
}

// biome-ignore lint/performance/useDomNodeTextContent: what is hidden is not what somebody reads
const textOf = (place: Locator): Promise<string> => place.innerText();
const isLive = (page: Page): Promise<unknown> => page.waitForSelector('#live .good');
const rowOf = (page: Page, code: string) => page.locator('#refusals tbody tr', { hasText: code });

describe('the status page in Chromium', () => {
  it('says first what is wrong, and shows a new refusal without being asked', { timeout: 60_000 }, () =>
    withPage({ viewport: DESKTOP }, async (page) => {
      await isLive(page);
      assert.match(await textOf(page.locator('.verdict')), /Serving, with trouble/);
      assert.match(await textOf(page.locator('.problems')), /Runtime search \(proxied\) does not answer/);
      const row = rowOf(page, 'TOKEN_REQUIRED');
      assert.match(await textOf(row), /\/files\/mcp.*127\.0\.0\.1/s);
      const count = async (): Promise<number> => Number(await textOf(row.locator('td.number')));
      const before = await count();
      await rig.call('/files/mcp');
      await until('the count moves', async () => (await count()) > before, 15_000);
      await rig.call('/files/mcp', 'not-a-token');
      await until('another row is there', async () => (await rowOf(page, 'TOKEN_INVALID').count()) === 1, 15_000);
    }),
  );

  it('leaves selection, focus and open parts alone while it changes', { timeout: 60_000 }, () =>
    withPage({ viewport: DESKTOP }, async (page) => {
      await isLive(page);
      await page.click('#config summary');
      const code = rowOf(page, 'SCOPE_INSUFFICIENT').locator('code').first();
      await code.selectText();
      await page.locator('.problems a').first().focus();
      await code.selectText();
      const refused = page.locator('#gates tbody tr', { hasText: 'token' }).locator('td').nth(1);
      const before = await textOf(refused);
      await rig.call('/files/mcp');
      await until('the page changes', async () => (await textOf(refused)) !== before, 15_000);
      assert.equal(await page.evaluate('String(getSelection())'), 'SCOPE_INSUFFICIENT');
      assert.equal(await page.evaluate('document.activeElement.closest(".problems") !== null'), true);
      assert.equal(await page.locator('#config pre').isVisible(), true);
    }),
  );

  it('Explain answers in place, and the token is nowhere but in its field', { timeout: 60_000 }, () =>
    withPage(
      { viewport: DESKTOP },
      async (page) => {
        await isLive(page);
        await page.fill('#ask-token', rig.poor_token);
        await page.click('#explain-form button');
        await page.waitForSelector('#explanation h3');
        assert.match(await textOf(page.locator('#explanation')), /Refused 403 SCOPE_INSUFFICIENT.*www-authenticate: Bearer/s);
        assert.equal(await page.evaluate('document.activeElement.closest("#explanation") !== null'), true);
        await page.screenshot({ path: `${SHOTS}/status-explain.png` });
        await page.fill('#ask-token', rig.token);
        await page.fill('#ask-tool', '<b>x</b>');
        await page.keyboard.press('Enter');
        await until('it answers', async () => /Admitted/.test(await textOf(page.locator('#explanation'))));
        assert.match(await textOf(page.locator('#explanation')), /demo-user/);
        await page.fill('#ask-address', 'somewhere');
        await page.click('#explain-form button').catch(() => undefined);
        await until('it says what is wrong', async () => /must be one IPv4/.test(await textOf(page.locator('#explanation'))));
        assert.equal(page.url(), status_url);
        for (const token of [rig.token, rig.poor_token]) {
          assert.ok(!(await page.content()).includes(token));
          assert.ok(!rig.gateway.output.includes(token));
        }
      },
      ['error: Failed to load resource: the server responded with a status of 400 (Bad Request)'],
    ),
  );

  it('says and does the same without JavaScript', { timeout: 60_000 }, () =>
    withPage({ viewport: DESKTOP, javaScriptEnabled: false }, async (page) => {
      assert.match(await textOf(page.locator('#live')), /^As of \d\d:\d\d:\d\d UTC\. Reload$/);
      assert.match(await textOf(page.locator('.verdict')), /Serving, with trouble/);
      assert.equal(await rowOf(page, 'TOKEN_REQUIRED').count(), 1);
      await page.fill('#ask-token', rig.token);
      await page.click('#explain-form button');
      await page.waitForSelector('#explanation h3');
      assert.equal(page.url(), `${status_url}/explain`);
      assert.match(await textOf(page.locator('#explanation')), /Admitted/);
      assert.ok(!(await page.content()).includes(rig.token));
      assert.equal(await page.locator('#ask-token').inputValue(), '');
      await page.click('nav a');
      assert.equal(page.url(), status_url);
    }),
  );

  for (const [name, viewport, colorScheme] of [
    ['status-light', DESKTOP, 'light'],
    ['status-dark', DESKTOP, 'dark'],
    ['status-phone', PHONE, 'light'],
    ['status-phone-dark', PHONE, 'dark'],
    ['status-narrow', { width: 320, height: 640 }, 'light'],
  ] as const) {
    it(`${name}: nothing is cut off, and every text can be read`, { timeout: 60_000 }, () =>
      withPage({ viewport, colorScheme }, async (page) => {
        await isLive(page);
        await page.screenshot({ path: `${SHOTS}/${name}.png` });
        await page.click('#config summary');
        await page.click('#explain-form summary');
        assert.deepEqual(await page.evaluate(OVERFLOW), []);
        assert.deepEqual(await page.evaluate(CONTRAST), []);
        await page.screenshot({ path: `${SHOTS}/whole-${name}.png`, fullPage: true });
      }),
    );
  }

  it('hostile names are text, on every width, and nothing of them runs', { timeout: 60_000 }, async () => {
    for (const text of [HOSTILE, 'very-long-name'.repeat(30)]) {
      const read = () => poisoned(statusWith(), text);
      const explain = () => Promise.reject(new Error('nobody asks'));
      const pages = createPage({ page: true, explain: true, allowed_hosts: [] }, { clock: systemClock, read, explain });
      const ops = createOps({ host: '127.0.0.1', port: 0 }, { ...QUIET_OPS, pages });
      const url = `${await ops.start()}/status`;
      for (const viewport of [DESKTOP, PHONE])
        await withPage(
          { viewport },
          async (page) => {
            await isLive(page);
            assert.ok((await page.getByText(text.slice(0, 20)).count()) > 10);
            assert.equal(await page.locator('img, iframe, script:not([src])').count(), 0);
            assert.deepEqual(await page.evaluate(OVERFLOW), []);
            await page.screenshot({ path: `${SHOTS}/hostile-${text.length}-${viewport.width}.png` });
          },
          [],
          url,
        );
      await ops.close();
    }
  });

  it('is used by keyboard: the first stop leads to the content', { timeout: 60_000 }, () =>
    withPage({ viewport: DESKTOP }, async (page) => {
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'To the content');
      const box = await page.locator('.skip').boundingBox();
      assert.ok((box?.x ?? -1) >= 0);
    }),
  );

  it('follows a drain to its end, and says then that it is not live any more', { timeout: 60_000 }, async () => {
    const context = await browser.newContext({ viewport: DESKTOP });
    const page = await context.newPage();
    await page.goto(status_url);
    await isLive(page);
    const slow = send(`${rig.gateway.url}/clock/mcp`, tool('slow', { ms: 60_000 })).catch(() => undefined);
    await until('a call is under way', async () => /waiting for an answer/.test(await textOf(page.locator('#traffic'))), 15_000);
    assert.equal((await fetch(`${rig.gateway.ops_url}/drain`, { method: 'POST' })).status, 202);
    await until('it drains', async () => /Draining/.test(await textOf(page.locator('.verdict'))), 15_000);
    await page.screenshot({ path: `${SHOTS}/drain.png` });
    await until('it has ended', async () => /The gateway has ended|Not live/.test(await textOf(page.locator('#live'))), 30_000);
    await page.screenshot({ path: `${SHOTS}/ended.png` });
    await slow;
    await context.close();
  });
});

const QUIET_OPS = {
  ready: () => ({ ready: true, reason: 'serving' }),
  started: () => true,
  render: async () => ({ content_type: 'text/plain', body: '' }),
  drain: () => undefined,
};

/** What is wider than the window. */
const OVERFLOW = `[...document.querySelectorAll('body, body *')]
  .filter((element) => element.scrollWidth > document.documentElement.clientWidth || element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .filter((element) => !element.closest('.unseen, .skip') && (element.tagName !== 'INPUT' || element.getBoundingClientRect().right > document.documentElement.clientWidth))
  .map((element) => element.outerHTML.slice(0, 100))`;

/** Texts whose contrast with what is behind them is less than 4.5 to 1 (WCAG 2.2, 1.4.3). */
const CONTRAST = `(() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => parse(color).slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if ((parse(color)[3] ?? 1) > 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const texts = [...document.querySelectorAll('body *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '') && element.checkVisibility());
  return texts.flatMap((element) => {
    const [one, other] = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    return ratio >= 4.5 ? [] : [element.outerHTML.slice(0, 100) + ' ' + ratio.toFixed(2)];
  });
})()`;
