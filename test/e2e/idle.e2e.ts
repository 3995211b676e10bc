// What keep-alive comes to at the real defaults, beside a balancer that keeps idle connections for a minute. It waits, and little else.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { rawExchange } from '../support/raw.js';
import { modern, send, tool } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

const { body = '', headers = {} } = tool('echo');
const REQUEST = `POST /mcp HTTP/1.1\r\nHost: a\r\n${Object.entries(headers)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

let upstream: Upstream;
let gateway: RunningGateway;

before(async () => {
  upstream = await startMcpUpstream();
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
runtimes: { server: { kind: proxied, url: "${upstream.url}/mcp" } }
routes: [{ path: /mcp, public: true, runtime: server }]
`);
});
after(async () => {
  await gateway?.stop();
  await upstream?.close();
});

describe('idle for a minute at the defaults', { concurrency: true }, () => {
  it('a connection that was idle for 62 s is answered again', { timeout: 90_000 }, async () => {
    const answer = await rawExchange(Number(new URL(gateway.url).port), [REQUEST, 62_000, REQUEST], 64_000);
    assert.deepEqual([answer.statuses, answer.end], [[200, 200], 'open']);
  });

  it('one that stays idle is closed after 75 s', { timeout: 120_000 }, async () => {
    const started = performance.now();
    const answer = await rawExchange(Number(new URL(gateway.url).port), [REQUEST], 110_000);
    assert.deepEqual([answer.statuses, answer.end], [[200], 'closed']);
    assert.ok(performance.now() - started > 74_000);
  });

  it('a quiet subscription gets a comment every 15 s, and is there after 62 s', { timeout: 90_000 }, async () => {
    const stream = await send(`${gateway.url}/mcp`, modern('subscriptions/listen', { notifications: {} }, 's'));
    await sleep(62_000);
    assert.ok((stream.text.match(/^:/gm)?.length ?? 0) >= 3, stream.text);
    assert.equal(await gateway.metric('portcullis_streams'), 1);
    stream.leave();
  });
});
