import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOwnHost, isOwnPost, wantsHtml } from '../../src/page/request-checks.js';

describe('who may see the status page', () => {
  it('answers names that no stranger can own, and those of the config', () => {
    for (const host of [
      undefined,
      '127.0.0.1:9090',
      '10.1.2.3',
      '[::1]:9090',
      'localhost:9090',
      'LOCALHOST',
      'portcullis-ops:9090',
      'portcullis-ops.tools.svc',
      'portcullis-ops.tools.svc.cluster.local:9090',
      'ops.corp.internal',
      'a.localhost',
    ])
      assert.equal(isOwnHost(host, []), true, host);
    for (const host of [
      'evil.example',
      'evil.example:9090',
      '127.0.0.1.evil.example',
      'svc.evil.example',
      'xsvc.example.',
      '[::1].evil.example',
    ])
      assert.equal(isOwnHost(host, ['ops.example.com']), false, host);
    assert.equal(isOwnHost('ops.example.com:9090', ['ops.example.com']), true);
    assert.equal(isOwnHost('ops.example.com:9090', ['ops.example.com:443']), false);
  });

  it('takes a form from its own page and from programs, and from no other page', () => {
    const host = '127.0.0.1:9090';
    for (const own of [
      {},
      { host },
      { host, origin: `http://${host}` },
      { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
    ])
      assert.equal(isOwnPost(own), true, JSON.stringify(own));
    for (const strange of [
      { host, origin: 'https://evil.example' },
      { host, origin: 'null' },
      { host, origin: 'http://127.0.0.1:8080' },
      { origin: `http://${host}` },
      { host, 'sec-fetch-site': 'cross-site' },
      { host, origin: `http://${host}`, 'sec-fetch-site': 'same-site' },
    ])
      assert.equal(isOwnPost(strange), false, JSON.stringify(strange));
  });

  it('sends the page to who prefers HTML, JSON to everybody else', () => {
    assert.equal(wantsHtml('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'), true);
    assert.equal(wantsHtml('TEXT/HTML; charset=utf-8'), true);
    for (const accept of [
      undefined,
      '*/*',
      'application/json',
      'application/json, text/html;q=0.5',
      'text/html;q=0',
      'text/html;q=x',
      `text/html${' '.repeat(5000)}`,
    ])
      assert.equal(wantsHtml(accept), false, accept);
  });
});
