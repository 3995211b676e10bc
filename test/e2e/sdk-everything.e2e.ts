// Official SDK clients, old and new, use the reference server through a guarded route as they use it direct: lists, calls, progress,
// server requests, GET stream notifications, cancel, sealed sessions, resumption.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type EverythingServer, startEverything } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { type OpenClient, openV1Current, openV2, openV12, type SdkClient } from '../support/e2e/sdk-clients.js';
import { methodOf, startTap, type Tap, type TappedRequest } from '../support/e2e/tap.js';
import { until } from '../support/e2e/until.js';
import { forged } from '../support/forged.js';

const RESOURCE = 'demo://resource/static/document/features.md';
const LONG = 'trigger-long-running-operation';
const ONE = { 'x-api-key': 'key-one' };
const TWO = { 'x-api-key': 'key-two' };
const CLIENTS: readonly (readonly [string, OpenClient, string | undefined])[] = [
  ['SDK 1.12', openV12, undefined],
  ['SDK 1 current', openV1Current, '2025-11-25'],
  ['SDK 2 legacy', openV2('legacy'), '2025-11-25'],
  ['SDK 2 auto', openV2('auto'), '2025-11-25'],
];

let everything: EverythingServer;
let tap: Tap;
let gateway: RunningGateway;
let url: string;

before(async () => {
  everything = await startEverything();
  tap = await startTap(everything.url);
  const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex');
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
gates:
  key: { use: api-key, options: { keys: [{ name: one, sha256: ${sha256('key-one')} }, { name: two, sha256: ${sha256('key-two')} }] } }
runtimes: { everything: { kind: proxied, url: "${tap.url}", protocol: as_is } }
routes: [{ path: /everything/mcp, gates: [key], runtime: everything }]
`);
  url = `${gateway.url}/everything/mcp`;
});

after(async () => {
  assert.equal(await gateway?.stop(), 0);
  await tap?.close();
  await everything?.child.stop('SIGKILL');
});

for (const [name, open, revision] of CLIENTS)
  describe(name, () => {
    it('gets the same from the server through the gateway as direct', { timeout: 30_000 }, async () => {
      const [direct, through] = await Promise.all([useAll(open, everything.url, {}), useAll(open, url, ONE)]);
      assert.deepEqual(through, direct);
      assert.equal(through.revision, revision);
      assert.ok(through.tools.includes(LONG) && through.resources.includes(RESOURCE) && through.prompts.length >= 4);
      assert.equal(through.echo, 'Echo: hello');
      assert.deepEqual(through.progress, [1, 2, 3, 4]);
      assert.match(through.sampled, /sampled text/);
      assert.match(through.roots, /e2e root/);
      assert.deepEqual(through.asked, ['elicitation/create', 'roots/list', 'sampling/createMessage']);
      assert.ok(through.updated, 'an update of the subscribed resource arrived on the GET stream');
    });

    it('cancels: the server is told which call', { timeout: 15_000 }, async () => {
      const client = await open(url, { headers: ONE });
      try {
        const from = tap.seen.length;
        const abort = new AbortController();
        const call = client.call(LONG, { duration: 3, steps: 30 }, { signal: abort.signal, onprogress: () => abort.abort('enough') });
        await assert.rejects(call, /enough/);
        const sent = () => tap.seen.slice(from).find((request) => methodOf(request) === 'notifications/cancelled');
        await until('notifications/cancelled at the server', () => sent()?.status === 202);
        const called = tap.seen.slice(from).find((request) => methodOf(request) === 'tools/call');
        assert.equal(JSON.parse(sent()?.body ?? '').params.requestId, JSON.parse(called?.body ?? '').id);
      } finally {
        await client.close();
      }
    });

    it('its session id is sealed, good for its caller only, and ended by DELETE', { timeout: 15_000 }, async () => {
      const from = tap.seen.length;
      const client = await open(url, { headers: ONE });
      await client.call('echo', { message: 'in a session' });
      const given = tap.seen.slice(from).find((request) => request.answer_headers['mcp-session-id'] !== undefined);
      const upstream_id = String(given?.answer_headers['mcp-session-id']);
      const sealed = client.session ?? '';
      assert.match(upstream_id, /^[0-9a-f-]{36}$/);
      assert.ok(!sealed.includes(upstream_id) && !Buffer.from(sealed, 'base64url').includes(upstream_id));

      const stranger = await rawPing(TWO, sealed);
      assert.deepEqual([stranger.status, stranger.code], [404, 'SESSION_NOT_FOUND']);
      const changed = await rawPing(ONE, forged(sealed));
      assert.deepEqual([changed.status, changed.code], [404, 'SESSION_NOT_FOUND']);
      const bare = await rawPing(ONE, upstream_id);
      assert.deepEqual([bare.status, bare.code], [404, 'SESSION_NOT_FOUND']);
      const owner = await rawPing(ONE, sealed);
      assert.equal(owner.status, 200);

      await client.terminate();
      const ended = tap.seen.findLast(({ method }) => method === 'DELETE');
      assert.deepEqual([ended?.headers['mcp-session-id'], ended?.status], [upstream_id, 200]);
      const late = await rawPing(ONE, sealed);
      assert.equal(late.status, 400, 'what the server itself says of a session that has ended');
      await client.close();
    });

    it('comes back with Last-Event-ID and gets the answer it missed', { timeout: 20_000 }, async () => {
      const first = await open(url, { headers: ONE });
      let token = '';
      let progressed = false;
      const call = first.call(
        LONG,
        { duration: 0.8, steps: 4 },
        // The older clients forget this timer when they are closed: it would keep the process.
        { timeout: 2000, onprogress: () => void (progressed = true), onresumptiontoken: (given) => void (token = given) },
      );
      await until('progress and an event id', () => progressed && token !== '');
      const { session = '' } = first;
      const lost = assert.rejects(call);
      await first.close();
      await lost;
      await new Promise((resolve) => setTimeout(resolve, 1000));

      const second = await open(url, { headers: ONE, session });
      try {
        const from = tap.seen.length;
        const answer = await second.call(LONG, {}, { resumptionToken: token });
        assert.match(answer, /Long running operation completed. Duration: 0.8 seconds, Steps: 4/);
        const resumed = tap.seen.slice(from).find(({ headers }) => headers['last-event-id'] !== undefined);
        assert.deepEqual([resumed?.method, resumed?.headers['last-event-id']], ['GET', token]);
      } finally {
        await second.close();
      }
    });
  });

describe('SDK 2 pinned to 2026-07-28', () => {
  it('fails against a legacy server in the same way direct and through the gateway', async () => {
    const direct = await failure(openV2({ pin: '2026-07-28' })(everything.url));
    const through = await failure(openV2({ pin: '2026-07-28' })(url, { headers: ONE }));
    assert.deepEqual(through, direct);
  });
});

describe('the guarded route', () => {
  it('gives nothing to a client without a key', async () => {
    const from = tap.seen.length;
    for (const [, open] of CLIENTS)
      await assert.rejects(open(url), (error: Error) => /API_KEY_MISSING|Unauthorized|401/.test(String(error)));
    assert.equal(tap.seen.length, from, 'nothing reached the server');
  });

  it('sends neither the key nor a sealed session id upstream', () => {
    assert.ok(tap.seen.length > 50);
    const leaked = (request: TappedRequest): boolean =>
      request.headers['x-api-key'] !== undefined ||
      request.headers.authorization !== undefined ||
      !/^([0-9a-f-]{36})?$/.test(String(request.headers['mcp-session-id'] ?? ''));
    assert.deepEqual(tap.seen.filter(leaked), []);
  });

  it('is counted by method, era and tool', async () => {
    const route = '/everything/mcp';
    const ok = await gateway.metric('portcullis_requests_total', { route, mcp_method: 'tools/call', era: 'legacy', outcome: 'ok' });
    const sent = tap.seen.filter((request) => methodOf(request) === 'tools/call').length;
    const cancelled = await gateway.metric('portcullis_requests_total', { route, mcp_method: 'tools/call', outcome: 'cancelled' });
    assert.equal(ok + cancelled, sent);
    assert.equal(await gateway.metric('portcullis_requests_in_flight', { route }), 0);
    assert.equal(await gateway.metric('portcullis_streams', { route }), 0);
    const echoed = await gateway.metric('mcp_server_operation_duration_seconds_count', { gen_ai_tool_name: 'echo' });
    assert.equal(echoed, CLIENTS.length * 2);
  });
});

/** Everything a client does in a day. */
async function useAll(open: OpenClient, address: string, headers: Readonly<Record<string, string>>) {
  const client = await open(address, { headers });
  try {
    const tools = [...(await client.tools())].sort();
    const echo = await client.call('echo', { message: 'hello' });
    const progress: number[] = [];
    const done = await client.call(LONG, { duration: 0.2, steps: 4 }, { onprogress: (step) => void progress.push(step.progress) });
    const sampled = await client.call('trigger-sampling-request', { prompt: 'a prompt', maxTokens: 20 });
    const elicited = tools.includes('trigger-elicitation-request') ? await client.call('trigger-elicitation-request') : undefined;
    const roots = await client.call('get-roots-list');
    await client.subscribe(RESOURCE);
    await client.call('toggle-subscriber-updates');
    await until('an update', () => isUpdated(client));
    const facts = {
      revision: client.revision,
      tools,
      resources: [...(await client.resources())].sort(),
      prompts: [...(await client.prompts())].sort(),
      document: await client.read(RESOURCE),
      echo,
      progress,
      done,
      sampled,
      elicited,
      roots,
      asked: [...new Set(client.asked)].sort(),
      updated: isUpdated(client),
    };
    await client.call('toggle-subscriber-updates');
    await client.terminate();
    return facts;
  } finally {
    await client.close();
  }
}

const isUpdated = ({ notified }: SdkClient): boolean => notified.includes(`notifications/resources/updated ${RESOURCE}`);

async function rawPing(key: Readonly<Record<string, string>>, session: string): Promise<{ status: number; code: unknown }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
      'mcp-protocol-version': '2025-03-26',
    },
    body: '{"jsonrpc":"2.0","id":77,"method":"ping"}',
  });
  const text = await response.text();
  const json = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, code: json.error?.data?.code };
}

async function failure(opening: Promise<SdkClient>): Promise<object> {
  const error: unknown = await opening.then(
    () => assert.fail('connected'),
    (thrown: unknown) => thrown,
  );
  const { name, code, message } = error as Error & { readonly code?: unknown };
  return { name, code, message };
}
