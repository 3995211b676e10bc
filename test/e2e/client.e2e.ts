// Our client against servers of others and our own: the reference server over HTTP and stdio, an SDK v2 server in both eras, and a
// guarded gateway in front of them; and `portcullis call`, built, as its reader runs it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Client, type ClientError, type ConnectOptions, connect, type Target } from '../../src/client.js';
import { type EverythingServer, freePort, startEverything } from '../support/e2e/everything-server.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { TEMPLATE } from '../support/e2e/modern-client.js';
import { type ModernServer, startModernServer } from '../support/e2e/modern-server.js';
import { startShell } from '../support/e2e/shell.js';
import { until } from '../support/e2e/until.js';
import { repositoryPath } from '../support/repository.js';
import { type OidcServer, startOidc } from './oidc-server.js';

const EVERYTHING = repositoryPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const RESOURCE = 'demo://resource/static/document/features.md';
const LONG = 'trigger-long-running-operation';

let everything: EverythingServer;
let modern: ModernServer;
let oidc: OidcServer;
let gateway: RunningGateway;
let folder: string;
const tokens: Record<string, string> = {};

before(async () => {
  [everything, modern, oidc] = await Promise.all([startEverything(), startModernServer(), startOidc()]);
  folder = mkdtempSync(join(tmpdir(), 'portcullis-client-'));
  const port = await freePort();
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: ${port} }
ops: { port: 0 }
gates: { token: { use: oauth-bearer, options: { issuer: "${oidc.issuer}" } } }
runtimes:
  everything: { kind: proxied, url: "${everything.url}" }
  modern: { kind: proxied, url: "${modern.url}" }
  child: { kind: stdio, command: node, args: ["${EVERYTHING}"] }
routes:
  - { path: /everything/mcp, gates: [token], runtime: everything }
  - { path: /modern/mcp, gates: [token], runtime: modern }
  - { path: /child/mcp, gates: [token], runtime: child }
`);
  for (const name of ['everything', 'modern', 'child']) tokens[name] = await oidc.token({ resource: `${gateway.url}/${name}/mcp` });
});

after(async () => {
  const code = await gateway?.stop();
  await Promise.all([modern?.close(), oidc?.close(), everything?.child.stop('SIGKILL')]);
  rmSync(folder, { recursive: true, force: true });
  assert.equal(code, 0);
});

const through = (name: string): Target => ({ http: `${gateway.url}/${name}/mcp`, bearer: () => tokens[name] as string });
const callbacks: ConnectOptions = {
  elicit: ({ message }) => ({ action: 'accept', content: message.includes('colour') ? { color: 'blue' } : { name: 'e2e caller' } }),
  sample: () => ({ model: 'stub', role: 'assistant', content: { type: 'text', text: 'sampled text' } }),
  roots: () => [{ uri: 'file:///e2e', name: 'e2e root' }],
};
async function within<T>(target: Target, options: ConnectOptions, test: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(target, { ...callbacks, ...options });
  try {
    return await test(client);
  } finally {
    await client.close();
  }
}
const say = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> => {
  const { content = [] } = await client.callTool(name, args);
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
};

/** Everything a client does with the reference server, which is of the legacy era. */
async function useEverything(client: Client) {
  const progress: number[] = [];
  const tools = (await client.listTools()).map(({ name }) => name).sort();
  await client.callTool(LONG, { duration: 0.2, steps: 4 }, { onProgress: (step) => progress.push(step.progress) });
  const facts = {
    revision: client.server.revision,
    name: client.server.server_info?.name,
    tools,
    echo: await say(client, 'echo', { message: 'héllo — 😀' }),
    progress,
    sampled: /sampled text/.test(await say(client, 'trigger-sampling-request', { prompt: 'a prompt', maxTokens: 20 })),
    elicited: (await say(client, 'trigger-elicitation-request')).split('\n')[0],
    roots: /e2e root/.test(await say(client, 'get-roots-list')),
    resources: (await client.listResources()).length,
    templates: (await client.listResourceTemplates()).length,
    prompts: (await client.listPrompts()).map(({ name }) => name),
    document: JSON.stringify(await client.readResource(RESOURCE)).length,
    prompt: (await client.getPrompt('args-prompt', { city: 'Kiel' })).messages.length,
  };
  const changes = await client.listen({ uris: [RESOURCE] });
  await client.callTool('toggle-subscriber-updates');
  const first = await changes[Symbol.asyncIterator]().next();
  await client.callTool('toggle-subscriber-updates');
  return { ...facts, change: first.value };
}

describe('the reference server', () => {
  it('over HTTP, stdio and two guarded routes, the same', { timeout: 60_000 }, async () => {
    const targets: Record<string, Target> = {
      http: { http: everything.url },
      stdio: { stdio: { command: process.execPath, args: [EVERYTHING] } },
      'behind the gateway': through('everything'),
      'a child of the gateway': through('child'),
    };
    let wanted: Awaited<ReturnType<typeof useEverything>> | undefined;
    for (const [name, target] of Object.entries(targets)) {
      const facts = await within(target, { era: 'legacy' }, useEverything);
      wanted ??= facts;
      assert.deepEqual(facts, wanted, name);
    }
    assert.deepEqual(wanted?.progress, [1, 2, 3, 4]);
    assert.deepEqual([wanted?.revision, wanted?.echo, wanted?.sampled, wanted?.roots], ['2025-11-25', 'Echo: héllo — 😀', true, true]);
    assert.deepEqual(wanted?.change, { kind: 'resource', uri: RESOURCE });
  });

  it('is found to be legacy; behind the gateway it is modern, over HTTP and as a child', { timeout: 30_000 }, async () => {
    const stdio: Target = { stdio: { command: process.execPath, args: [EVERYTHING] } };
    for (const target of [{ http: everything.url }, stdio]) {
      assert.equal(await within(target, {}, async (client) => client.server.era), 'legacy');
    }
    for (const target of [through('everything'), through('child')]) {
      assert.equal(
        await within(target, {}, async (client) => `${client.server.era} ${await say(client, 'echo', { message: 'x' })}`),
        'modern Echo: x',
      );
    }
    const refused = await connect({ http: everything.url }, { era: 'modern' }).catch((error: ClientError) => error);
    assert.equal(refused instanceof Error && refused.code, 'NO_COMMON_VERSION');
  });

  it('cancels a call, and the session goes on', { timeout: 30_000 }, async () => {
    for (const target of [{ http: everything.url }, { stdio: { command: process.execPath, args: [EVERYTHING] } }] satisfies Target[]) {
      await within(target, {}, async (client) => {
        const stop = new AbortController();
        const call = client.callTool(LONG, { duration: 3, steps: 30 }, { signal: stop.signal, onProgress: () => stop.abort() });
        assert.equal(await call.catch((error: ClientError) => error.code), 'CANCELLED');
        assert.equal(await say(client, 'echo', { message: 'still' }), 'Echo: still');
      });
    }
  });
});

describe('an SDK v2 server', () => {
  const useModern = async (client: Client) => {
    const progress: number[] = [];
    await client.callTool('test_tool_with_progress', {}, { onProgress: (step) => progress.push(step.progress) });
    const failed = (request: Promise<unknown>) => request.catch((error: ClientError) => [error.code, error.rpc?.code]);
    return {
      era: client.server.era,
      tools: (await client.listTools()).length,
      progress,
      rounds: await say(client, 'test_input_required_result_multi_round'),
      inputs: await say(client, 'test_input_required_result_multiple_inputs'),
      region: await say(client, 'test_x_mcp_header', { region: ' Süd\n', level: 1 }),
      read: JSON.stringify(await client.readResource(TEMPLATE)).length,
      large: (await say(client, 'repeat', { what: 'é"\\', times: 100_000 })).length,
      sent: (await say(client, 'repeat', { what: 'x'.repeat(1_500_000), times: 1 })).length,
      structured: (await client.callTool('double', { a: 21 })).structuredContent,
      unknown: [await failed(client.readResource('test://none')), await failed(client.request('acme/none'))],
    };
  };

  it('is modern, direct and behind the gateway, the same', { timeout: 30_000 }, async () => {
    const direct = await within({ http: modern.url }, {}, useModern);
    assert.deepEqual(await within(through('modern'), {}, useModern), direct);
    assert.deepEqual([direct.era, direct.progress, direct.structured], ['modern', [0, 50, 100], { double: 42 }]);
    assert.deepEqual([direct.rounds, direct.region], ['e2e caller likes blue', 'region= Süd\n']);
    assert.match(direct.inputs, /e2e caller, 1 roots/);
    assert.deepEqual(direct.unknown[1], ['RPC_ERROR', -32601]);
  });

  it('speaks the legacy era without a session, too', { timeout: 30_000 }, async () => {
    for (const target of [{ http: modern.url }, through('modern')]) {
      const [era, double] = await within(target, { era: 'legacy' }, async (client) => [
        client.server.era,
        await say(client, 'double', { a: 2 }),
      ]);
      assert.deepEqual([era, double], ['legacy', '{"double":4}']);
    }
  });

  it('tells changes, and notices a cancelled call and a closed subscription', { timeout: 30_000 }, async () => {
    for (const [name, target] of Object.entries({ direct: { http: modern.url }, through: through('modern') })) {
      await within(target, {}, async (client) => {
        const changes = await client.listen({ tools: true, uris: ['test://watched-resource'] });
        assert.deepEqual(changes.agreed, { tools: true, uris: ['test://watched-resource'] });
        modern.notify.toolsChanged();
        modern.notify.resourceUpdated('test://watched-resource');
        const told: unknown[] = [];
        for await (const change of changes) if (told.push(change) === 2) break;
        assert.deepEqual(told, [{ kind: 'tools' }, { kind: 'resource', uri: 'test://watched-resource' }]);
        await until('the server lets go of the subscription', () => modern.listener_count === 0);
        const stop = new AbortController();
        const call = client.callTool('hang', { label: name }, { signal: stop.signal }).catch((error: ClientError) => error.code);
        await until('it hangs', () => modern.hanging.some(({ label }) => label === name));
        stop.abort();
        assert.equal(await call, 'CANCELLED');
        await until('its handler notices', () => modern.hanging.find(({ label }) => label === name)?.aborted);
      });
    }
  });
});

describe('portcullis call', () => {
  const MAIN = `node ${repositoryPath('dist/src/main.js')} call`;
  const run = async (script: string) => {
    const shell = startShell(script, folder);
    return [await shell.ended, shell.output] as const;
  };

  it('lists and calls behind a bearer, with progress; the token comes from a file or from standard input', {
    timeout: 60_000,
  }, async () => {
    writeFileSync(join(folder, 'token'), `${tokens.everything}\n`);
    const url = `${gateway.url}/everything/mcp`;
    const [code, listed] = await run(`${MAIN} ${url} --token-file token`);
    assert.deepEqual([code, /modern 2026-07-28: \d+ tools\n/.test(listed)], [0, true], listed);
    assert.deepEqual(await run(`cat token | ${MAIN} ${url} echo '{"message":"hi"}' --token-file -`), [0, 'Echo: hi\n']);
    const [done, output] = await run(`${MAIN} ${url} ${LONG} '{"duration":0.2,"steps":2}' --token-file token`);
    assert.deepEqual([done, /\[1\/2\]\n\[2\/2\]\nLong running operation completed/.test(output)], [0, true], output);
    const [refused, why] = await run(`${MAIN} ${url}`);
    assert.equal(refused, 77);
    assert.match(
      why,
      /The server requires an access token: --token-file FILE\.\n {2}Who gives tokens for it: http:\/\/127\.0\.0\.1:\d+\/\.well-known/,
    );
  });

  it('calls a program after --, and leaves nothing behind', { timeout: 30_000 }, async () => {
    assert.deepEqual(await run(`${MAIN} echo '{"message":"hi"}' -- node ${EVERYTHING} 2>/dev/null`), [0, 'Echo: hi\n']);
    const [code, output] = await run(`${MAIN} -- node -e 'process.exit(3)'`);
    assert.deepEqual([code, output], [69, 'error: node ended with exit code 3\n']);
  });
});
