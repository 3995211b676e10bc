import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ArrivingRequest } from '../../../src/listener/request/body.js';
import { Connection } from '../../../src/listener/socket/connection.js';

test('what only the arrival of a request needed is let go, and the answer still ends the exchange', async () => {
  const seen: ArrivingRequest[] = [];
  const server = createServer({ IncomingMessage: ArrivingRequest }, (incoming, response) => {
    seen.push(incoming);
    incoming.on('data', () => undefined);
    incoming.on('end', () => {
      const connection = new Connection(incoming.socket, 0);
      connection.request = incoming;
      connection.forgetArrival();
      response.end('done');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const call = request({ port, host: '127.0.0.1', method: 'POST', headers: { authorization: 'Bearer secret' } });
  call.end('body');
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  let said = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  await once(response, 'end');
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  assert.equal(said, 'done');
  const [incoming] = seen;
  assert.deepEqual([incoming?.rawHeaders, incoming?.headers], [[], {}]);
  assert.deepEqual([incoming?.listenerCount('data'), incoming?.listenerCount('end')], [0, 0]);
});
