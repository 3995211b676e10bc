import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV112 } from 'sdk-v1-12/client/index.js';
import { StreamableHTTPClientTransport as TransportV112 } from 'sdk-v1-12/client/streamableHttp.js';
import type { Clock } from '../../src/contract/clock.js';
import { demoDefinition } from '../../src/demo/definition.js';
import { defineServer } from '../../src/server.js';
import { systemClock } from '../../src/system-clock.js';
import { servingHosted } from '../support/hosted-http.js';
import type { Json } from './rpc.js';

/** What all three clients have in common, as far as it is used here. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: object }, ...more: unknown[]): Promise<Json>;
  readResource(params: { uri: string }): Promise<Json>;
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<Json>;
  complete(params: object): Promise<Json>;
  getServerVersion(): { name: string } | undefined;
  close(): Promise<void>;
}

type Progress = (progress: { progress: number }) => void;

async function tour(
  client: AnyClient,
  transport: unknown,
  call: (params: { name: string; arguments: object }, onprogress: Progress) => Promise<Json>,
) {
  await client.connect(transport);
  assert.equal(client.getServerVersion()?.name, 'portcullis-demo');
  assert.deepEqual(
    (await client.listTools()).tools.map((tool) => tool.name),
    ['echo', 'add', 'countdown', 'whoami'],
  );
  const said = async (name: string, args: object) => JSON.parse((await client.callTool({ name, arguments: args })).content[0].text);
  assert.deepEqual(await said('add', { a: 1, b: 2 }), { sum: 3 });
  assert.deepEqual(await said('whoami', {}), { identity: null });
  const seen: number[] = [];
  const counted = await call({ name: 'countdown', arguments: { from: 2 } }, ({ progress }) => seen.push(progress));
  assert.deepEqual([counted.content[0].text, seen], ['Counted down from 2.', [1, 2]]);
  assert.match((await client.readResource({ uri: 'demo://about' })).contents[0].text, /demonstration server/);
  assert.match((await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })).messages[0].content.text, /Hello, Ada/);
  const ref = { type: 'ref/prompt', name: 'greet' };
  assert.deepEqual((await client.complete({ ref, argument: { name: 'language', value: 'f' } })).completion.values, ['fr']);
}

/** Time as the demo server feels it: thirty times as fast. */
const fastClock: Clock = {
  ...systemClock,
  timer: (delay_ms, run) => systemClock.timer(delay_ms / 30, run),
  interval: (period_ms, run) => systemClock.interval(period_ms / 30, run),
};

async function withServer(run: (url: URL) => Promise<void>): Promise<void> {
  const demo = await servingHosted(defineServer(demoDefinition(fastClock)), systemClock);
  try {
    await run(new URL(demo.url));
  } finally {
    await demo.close();
  }
}

describe('official clients speak to the demo server', () => {
  it('SDK v1', () =>
    withServer(async (url) => {
      const client = new ClientV1({ name: 't', version: '1' });
      await tour(client as unknown as AnyClient, new TransportV1(url), (params, onprogress) =>
        client.callTool(params as { name: string }, undefined, { onprogress }),
      );
      await client.close();
    }));

  it('SDK 1.12', () =>
    withServer(async (url) => {
      const client = new ClientV112({ name: 't', version: '1' });
      await tour(client as unknown as AnyClient, new TransportV112(url), (params, onprogress) =>
        client.callTool(params as { name: string }, undefined, { onprogress }),
      );
      await client.close();
    }));

  const modes: readonly (readonly [string, VersionNegotiationMode, string])[] = [
    ['legacy', 'legacy', '2025-11-25'],
    ['auto', 'auto', '2026-07-28'],
    ['pinned', { pin: '2026-07-28' }, '2026-07-28'],
  ];
  for (const [name, mode, revision] of modes)
    it(`SDK v2, ${name}`, () =>
      withServer(async (url) => {
        const client = new ClientV2({ name: 't', version: '1' }, { versionNegotiation: { mode } });
        await tour(client as unknown as AnyClient, new TransportV2(url), (params, onprogress) =>
          client.callTool(params as { name: string }, { onprogress }),
        );
        assert.equal(client.getNegotiatedProtocolVersion(), revision);
        await client.close();
      }));

  it('SDK v2 subscribes, hears a tick and is told of the end', () =>
    withServer(async (url) => {
      const client = new ClientV2({ name: 't', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(new TransportV2(url));
      const heard = new Promise<string>((resolve) =>
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri)),
      );
      const nothing = await client.listen({ toolsListChanged: true });
      assert.deepEqual([nothing.honoredFilter, await nothing.closed], [{}, 'graceful']);
      const ticks = await client.listen({ resourceSubscriptions: ['demo://ticks'] });
      assert.deepEqual(ticks.honoredFilter, { resourceSubscriptions: ['demo://ticks'] });
      assert.equal(await heard, 'demo://ticks');
      await ticks.close();
      assert.equal(await ticks.closed, 'local');
      await client.close();
    }));
});
