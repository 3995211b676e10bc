import assert from 'node:assert/strict';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Client, type ClientError, connect, type Target } from '../../src/client.js';
import { makeClock } from '../../src/testing/clock.js';

type Json = ReturnType<typeof JSON.parse>;

/** A modern server whose calls are held until the test answers them; counts its connections. */
async function holding() {
  const calls: { readonly socket: Socket; answer(headers?: Record<string, string>): void; stream(): () => void }[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const listener: RequestListener = (request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const message: Json = JSON.parse(text);
      if (message.method === 'server/discover') return reply(response, message.id, { supportedVersions: ['2026-07-28'], capabilities: {} });
      calls.push({
        socket: request.socket,
        answer: (headers) => reply(response, message.id, { content: [] }, headers),
        stream: () => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
          const json = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [] } });
          return () => response.end(`data: ${json}\n\n`);
        },
      });
    });
  };
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  server.on('connection', (socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    http: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    sockets,
    get accepted() {
      return accepted;
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

function reply(response: ServerResponse, id: number, result: object, headers: Record<string, string> = {}): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } });
  const length: Record<string, string> = 'transfer-encoding' in headers ? {} : { 'content-length': String(body.length) };
  response.writeHead(200, { 'content-type': 'application/json', ...length, ...headers }).end(body);
}

const until = async (done: () => boolean): Promise<void> => {
  for (let n = 0; n < 2000 && !done(); n++) await turn();
  assert.ok(done(), String(done));
};

describe('pins: HTTP client connections', async () => {
  const clock = makeClock();
  const server = await holding();
  const open = (more: Partial<Target> = {}): Promise<Client> => connect({ http: server.http, ...more } as Target, { clock });
  after(() => server.close());

  it('four requests at once; the fifth waits up to its timeout', async () => {
    const client = await open();
    const [before, calls] = [server.accepted, server.calls.length];
    const answers = Array.from({ length: 5 }, () => client.callTool('x'));
    const late = client.callTool('x', {}, { timeout_ms: 1_000 }).catch((error: ClientError) => error.code);
    await until(() => server.calls.length === calls + 4);
    for (let n = 0; n < 20; n++) await turn();
    assert.equal(server.calls.length, calls + 4);
    // The connection of the discovery was idle and is one of the four.
    assert.equal(server.accepted, before + 3);
    clock.advance(1_000);
    assert.equal(await late, 'TIMEOUT');
    server.calls[calls]?.answer();
    await until(() => server.calls.length === calls + 5);
    for (const call of server.calls.slice(calls + 1)) call.answer();
    await Promise.all(answers);
    await client.close();
  });

  it('an unused connection stays open for 30 000 ms', async () => {
    const client = await open();
    const open_before = server.sockets.size;
    clock.advance(29_999);
    for (let n = 0; n < 50; n++) await turn();
    assert.equal(server.sockets.size, open_before);
    clock.advance(1);
    await until(() => server.sockets.size === open_before - 1);
    await client.close();
  });

  it('a connection is retired after 100 requests', async () => {
    const client = await open();
    const before = server.accepted;
    const call = async (headers?: Record<string, string>): Promise<void> => {
      const done = client.callTool('x');
      const at = server.calls.length;
      await until(() => server.calls.length === at + 1);
      server.calls.at(-1)?.answer(headers);
      await done;
    };
    for (let n = 2; n <= 100; n++) await call();
    assert.equal(server.accepted, before);
    await call();
    assert.equal(server.accepted, before + 1);
    await client.close();
  });

  it('only a complete body of declared length, without Connection: close, leaves a connection usable', async () => {
    for (const [headers, more] of [
      [{}, 0],
      [{ connection: 'close' }, 1],
      [{ 'transfer-encoding': 'chunked' }, 1],
    ] as const) {
      const client = await open();
      const before = server.accepted;
      for (const own of [headers, {}]) {
        const done = client.callTool('x');
        const at = server.calls.length;
        await until(() => server.calls.length === at + 1);
        server.calls.at(-1)?.answer(own);
        await done;
      }
      assert.equal(server.accepted, before + more, JSON.stringify(headers));
      await client.close();
    }
  });

  it('an event stream has a connection of its own', async () => {
    const client = await open({ pool_size: 1 } as Partial<Target>);
    const [before, calls] = [server.accepted, server.calls.length];
    const streamed = client.callTool('x');
    await until(() => server.calls.length === calls + 1);
    const end = server.calls[calls]?.stream();
    const other = client.callTool('x');
    await until(() => server.calls.length === calls + 2);
    assert.equal(server.accepted, before + 1);
    server.calls[calls + 1]?.answer();
    await other;
    end?.();
    await streamed;
    await until(() => server.calls[calls]?.socket.destroyed === true);
    await client.close();
  });

  it('each option is a positive integer', async () => {
    for (const name of ['pool_size', 'pool_idle_timeout_ms', 'pool_max_requests']) {
      for (const value of [0, -1, 1.5, Number.NaN, '4']) {
        await assert.rejects(
          open({ [name]: value } as Partial<Target>),
          new RangeError(`${name} must be a positive integer, not ${String(value)}`),
        );
      }
    }
  });

  it('close ends idle connections and lets active requests finish', async () => {
    const client = await open({ pool_size: 2 } as Partial<Target>);
    const calls = server.calls.length;
    const [one, two] = [client.callTool('x'), client.callTool('x')];
    await until(() => server.calls.length === calls + 2);
    server.calls[calls]?.answer();
    await one;
    const idle = server.calls[calls]?.socket as Socket;
    const closing = client.close();
    await until(() => idle.destroyed);
    await assert.rejects(client.callTool('x'), { code: 'CLOSED', message: 'the client is closed' });
    server.calls[calls + 1]?.answer();
    assert.deepEqual((await two).content, []);
    await closing;
    await until(() => server.sockets.size === 0);
  });
});
