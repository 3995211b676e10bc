import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, it } from 'node:test';
import { systemClock } from '../../src/system-clock.js';
import { type Collector, createCollector, type Delivery } from '../../src/tracing/collector.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const signal = new AbortController().signal;
let upstream: Upstream | undefined;
let collector: Collector | undefined;

afterEach(async () => {
  await collector?.close();
  await upstream?.close();
});

async function answering(answer: (response: ServerResponse) => void, timeout_ms = 10_000): Promise<Collector> {
  upstream = await startUpstream((_, response) => answer(response));
  const endpoint = `${upstream.url}/v1/traces`;
  return (collector = createCollector({ endpoint, headers: { 'X-Key': 'k' }, ca: undefined, timeout_ms, clock: systemClock }));
}

describe('the OTLP/HTTP side of a collector', () => {
  it('posts JSON with the configured headers; a partial success says how many were rejected', async () => {
    const to = await answering((response) => void response.end('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}'));
    assert.deepEqual(await to.send('{"a":1}', signal), { kind: 'delivered', rejected: 2 });
    const { method, url, headers, body } = upstream?.seen[0] ?? assert.fail();
    assert.deepEqual([method, url, headers['content-type'], headers['x-key']], ['POST', '/v1/traces', 'application/json', 'k']);
    assert.equal(body.toString(), '{"a":1}');
  });

  it('429, 502, 503 and 504 are for later, every other failure is final; a redirect is not followed', async () => {
    const statuses = [429, 502, 503, 504, 400, 401, 404, 413, 500, 302];
    const to = await answering((response) => {
      response.writeHead(statuses[(upstream?.seen.length ?? 1) - 1] ?? 200, { 'retry-after': '7', location: '/other' }).end('no');
    });
    const found: Delivery[] = [];
    for (const _ of statuses) found.push(await to.send('{}', signal));
    assert.deepEqual(
      found.map(({ kind }) => kind),
      [...Array<string>(4).fill('later'), ...Array<string>(6).fill('refused')],
    );
    assert.deepEqual(found[0], { kind: 'later', after_ms: 7_000, why: 'the collector answered 429' });
    assert.equal(upstream?.seen.length, statuses.length);
  });

  it('one that hangs, before its answer or within, is given up after timeout_ms or when it is told to stop', async () => {
    const hanging = await answering(() => undefined, 50);
    assert.deepEqual(await hanging.send('{}', signal), { kind: 'later', after_ms: 0, why: 'the collector did not answer in time' });
    await hanging.close();
    await upstream?.close();
    const halting = await answering((response) => void response.writeHead(200).write('{'), 60_000);
    const stop = new AbortController();
    const sent = halting.send('{}', stop.signal);
    setTimeout(() => stop.abort(), 50);
    assert.equal((await sent).kind, 'later');
  });

  it('one that is gone is for later, and its host is not told', async () => {
    const to = await answering(() => undefined);
    await upstream?.close();
    assert.deepEqual(await to.send('{}', signal), { kind: 'later', after_ms: 0, why: 'the collector cannot be reached: ECONNREFUSED' });
  });

  it('an answer without end or sense is cut and counts as none', async () => {
    const to = await answering((response) => void response.end('x'.repeat(1_000_000)));
    assert.deepEqual(await to.send('{}', signal), { kind: 'delivered', rejected: 0 });
  });
});
