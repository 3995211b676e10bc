import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type Client, type ClientError, type ConnectOptions, connect } from '../../src/client.js';
import { type Heard, type Reply, startAnswers } from './mcp-answers.js';

/** Connects to a server that answers so, for one test. */
export async function within(reply: Reply, options: ConnectOptions, test: (client: Client, server: Heard) => Promise<void>): Promise<void> {
  const server = await startAnswers(reply);
  const client = await connect({ http: `${server.url}/mcp`, headers: { 'x-own': 'yes' }, bearer: 'token' }, options);
  try {
    await test(client, server);
  } finally {
    await client.close();
    await server.close();
  }
}

/** The error that a call fails with. */
export const failure = (promise: Promise<unknown>): Promise<ClientError> =>
  promise.then(
    () => assert.fail('it did not fail'),
    (error: ClientError) => error,
  );

/** Resolves once `done` is true: after some turns of the event loop, whatever the clock says. */
export const until = async (done: () => boolean): Promise<void> => {
  for (let n = 0; n < 5000 && !done(); n++) await turn();
  assert.ok(done(), String(done));
};
