import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { Passed } from '../../../src/contract/runtime.js';
import { HttpExchange, type HttpExchangeParts } from '../../../src/runtime/http/http-exchange.js';
import { makeHead } from '../../../src/testing.js';
import { code, type Front, get, openFront } from '../../support/http-front.js';
import { delay } from '../../support/proxied-bench.js';
import { type Answering, startUpstream, type Upstream } from '../../support/upstream.js';

describe('opaque http: streams and answers that do not come', () => {
  let upstream: Upstream;
  let front: Front;
  let answer: Answering;

  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    front = await openFront(`${upstream.url}/app`, { response_timeout_ms: 1000 });
  });
  after(async () => {
    await front.close();
    await upstream.close();
  });

  it('an answer that is cut after its head is cut for the client', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'Content-Length': '10' }).write('abc');
      setTimeout(() => response.destroy(), 20);
    };
    await assert.rejects(get(front.port, '/console/x'));
  });

  it('the head of a quiet stream is there before its first byte, and a quiet stream is not cut', async () => {
    let quiet: Parameters<Answering>[1] | undefined;
    answer = (_request, response) => {
      quiet = response;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    };
    const request = httpRequest({ port: front.port, host: '127.0.0.1', path: '/console/events', agent: false });
    const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve).end());
    assert.equal(response.headers['content-type'], 'text/event-stream');
    await delay(1700);
    quiet?.end('data: x\n\n');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    assert.equal(Buffer.concat(chunks).toString(), 'data: x\n\n');
  });

  it('an event stream opened under an identity ends whole when the identity does, and the upstream is let go; other answers go on', async () => {
    const expires_at_ms = Date.now() + 400;
    const own = await openFront(upstream.url, {}, { principal: 'a', issuer: 'b', scopes: new Set(), facts: {}, expires_at_ms });
    try {
      answer = (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'Text/Event-Stream; charset=utf-8' }).flushHeaders();
        const beat = setInterval(() => response.write('data: x\n\n'), 50);
        response.on('close', () => clearInterval(beat));
      };
      const before = upstream.seen.filter((entry) => entry.aborted).length;
      const stream = await get(own.port, '/console/events');
      assert.match(stream.body, /^(?:data: x\n\n)+$/);
      assert.ok(Date.now() >= expires_at_ms);
      await upstream.aborted(before + 1);
      answer = (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/zip' }).write('one');
        setTimeout(() => response.end('two'), 300);
      };
      assert.equal((await get(own.port, '/console/export')).body, 'onetwo', 'a call goes on');
    } finally {
      await own.close();
    }
  });

  it('an upstream that does not answer in time is 504', async () => {
    answer = () => {};
    assert.equal(code(await get(front.port, '/console/slow')), '504 DEADLINE');
  });

  it('a client that leaves aborts the upstream, before its head and in its body', async () => {
    const leave = async (path: string, ready: () => boolean): Promise<void> => {
      const before = upstream.seen.filter((entry) => entry.aborted).length;
      const socket = connect(front.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      while (!ready()) await delay(5);
      socket.destroy();
      await upstream.aborted(before + 1);
    };
    let open = 0;
    answer = () => void (open += 1);
    const count = open;
    await leave('/console/silent', () => open > count);
    answer = (_request, response) => {
      response.writeHead(200).write('x');
      open += 1;
    };
    const now = open;
    await leave('/console/body', () => open > now);
    const lines = front.log.lines.length;
    await delay(20);
    assert.equal(front.log.lines.length, lines);
  });

  it('a counted body that breaks off or grows too large takes nothing down when nobody reads it', async () => {
    const runs = [
      (body: PassThrough) => void body.destroy(),
      (body: PassThrough) => void body.destroy(new Error('reset')).on('error', () => {}),
      (body: PassThrough) => void body.write('too long'),
    ];
    for (const run of runs) {
      const response = new EventEmitter() as ServerResponse;
      Object.assign(response, { headersSent: true });
      const head = makeHead({ id: 'r1', method: 'POST', path: '/console/x', query: '', headers: {} });
      const passed = { head, identity: undefined, facts: {}, prefix: '/console' } as unknown as Passed;
      const body = new PassThrough();
      const counted = new HttpExchange({} as HttpExchangeParts, {} as IncomingMessage, response, passed).counted(body, 4);
      const closed = new Promise((resolve) => counted.once('close', resolve));
      run(body);
      await closed;
      assert.equal(counted.errored instanceof Error, true);
    }
  });

  it('far more than 128 streams are open at once', async () => {
    let open = 0;
    answer = (_request, response) => {
      open += 1;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    };
    const sockets = Array.from({ length: 200 }, () => {
      const socket = connect(front.port, '127.0.0.1').on('error', () => {});
      socket.write('GET /console/events HTTP/1.1\r\nHost: x\r\n\r\n');
      return socket;
    });
    for (let i = 0; open < 200 && i < 400; i++) await delay(10);
    assert.equal(open, 200);
    for (const socket of sockets) socket.destroy();
  });
});
