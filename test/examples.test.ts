import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createDispatch, type Server } from '../src/server.js';
import { makeClock } from '../src/testing/clock.js';
import { makeIdentity } from '../src/testing/head.js';
import { repositoryPath } from './support/repository.js';

type Json = ReturnType<typeof JSON.parse>;

/** Examples that are no servers. */
const OTHERS = ['client-over-all-transports.ts', 'http-tools.ts', 'transport-tcp.ts'];

/** What a program prints; it must end by itself, and well. */
async function printed(name: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [repositoryPath(`dist/examples/${name}.js`)], { timeout: 60_000 });
  return stdout.trimEnd().split('\n');
}

async function load(name: string) {
  const { server } = (await import(repositoryPath(`dist/examples/${name}.js`))) as { readonly server: Server };
  const dispatch = createDispatch(server, { clock: makeClock() });
  return async (method: string, params: Record<string, unknown> = {}, context = {}): Promise<Json> =>
    (await dispatch({ method, params }, context)).result;
}
const textOf = (result: Json): string => result.content[0].text;

describe('the examples', () => {
  it('are servers, all of them', async () => {
    const names = readdirSync(repositoryPath('examples')).filter((file) => file.endsWith('.ts') && !OTHERS.includes(file));
    assert.equal(names.length, 7);
    for (const name of names) {
      const ask = await load(name.slice(0, -'.ts'.length));
      assert.equal((await ask('server/discover')).resultType, 'complete', name);
    }
  });

  it('tell the time', async () => {
    const ask = await load('ten-lines');
    assert.match(textOf(await ask('tools/call', { name: 'now', arguments: { zone: 'Europe/Berlin' } })), /^\d\d:\d\d:\d\d$/);
  });

  it('tell progress, and stop', async () => {
    const ask = await load('progress-and-cancellation');
    const seen: number[] = [];
    const notify = (message: Json) => seen.push(message.params.progress);
    const params = { name: 'crawl', arguments: { pages: 2 }, _meta: { progressToken: 1 } };
    assert.deepEqual((await ask('tools/call', params, { notify })).structuredContent, { visited: 2 });
    assert.deepEqual(seen, [1, 2]);
    assert.equal(await ask('tools/call', params, { signal: AbortSignal.abort() }), undefined);
  });

  it('write, read and list notes', async () => {
    const ask = await load('resources-with-updates');
    assert.equal((await ask('tools/call', { name: 'write', arguments: { id: 'a', text: 'b' } })).content[0].uri, 'note:a');
    assert.equal((await ask('resources/read', { uri: 'note:a' })).contents[0].text, 'b');
    assert.equal(await ask('resources/read', { uri: 'note:none' }), undefined);
    const ref = { type: 'ref/resource', uri: 'note:{id}' };
    assert.deepEqual((await ask('completion/complete', { ref, argument: { name: 'id', value: 'w' } })).completion.values, ['welcome']);
  });

  it('complete what fits the other arguments', async () => {
    const ask = await load('prompts-with-completion');
    const params = { ref: { type: 'ref/prompt', name: 'code_review' }, argument: { name: 'framework', value: 'f' } };
    assert.deepEqual((await ask('completion/complete', { ...params, context: { arguments: { language: 'python' } } })).completion.values, [
      'fastapi',
      'flask',
    ]);
    const prompt = await ask('prompts/get', { name: 'code_review', arguments: { code: 'x', language: 'python' } });
    assert.equal(prompt.messages[0].content.text, 'Review this python code:\n\nx');
  });

  it('ask before they act', async () => {
    const ask = await load('asking-the-user');
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const params = { name: 'delete_branch', arguments: { branch: 'old' }, _meta };
    const { requestState, inputRequests } = await ask('tools/call', params);
    assert.equal(inputRequests.confirm.params.message, 'Delete old?');
    const answer = (sure: boolean) =>
      ask('tools/call', { ...params, requestState, inputResponses: { confirm: { action: 'accept', content: { sure } } } });
    assert.deepEqual([textOf(await answer(true)), textOf(await answer(false))], ['Deleted old.', 'Nothing was deleted.']);
  });

  it('limit a caller', async () => {
    const ask = await load('limits-around-a-tool');
    const search = async () => textOf(await ask('tools/call', { name: 'search', arguments: { text: 'x' } }));
    for (let n = 0; n < 30; n++) assert.equal(await search(), 'Nothing was found for x.');
    assert.equal(await search(), 'Component rate limit reached');
  });

  it('know who calls', async () => {
    const ask = await load('identity-in-a-handler');
    const names = async (context: object) => (await ask('tools/list', {}, context)).tools.map(({ name }: { name: string }) => name);
    const alice = { identity: makeIdentity() };
    assert.deepEqual(await names({}), []);
    assert.deepEqual(await names(alice), ['balance']);
    assert.deepEqual(await names({ identity: makeIdentity({ scopes: new Set(['balances.write']) }) }), ['balance', 'adjust']);
    assert.equal(textOf(await ask('tools/call', { name: 'balance' }, alice)), '12');
  });

  it('call tools over HTTP', async () => {
    assert.deepEqual(await printed('http-tools'), [
      'crawl: Visits pages one after the other.',
      'page 1 of 3',
      'page 2 of 3',
      'page 3 of 3',
      '{"visited":3}',
      'true',
      'RPC_ERROR',
      'CANCELLED',
    ]);
  });

  it('reach one server in every way, in both eras', async () => {
    const ways = ['http', 'stdio', 'memory', 'a transport of our own'];
    assert.deepEqual(
      await printed('client-over-all-transports'),
      ['2026-07-28', '2025-11-25'].flatMap((revision) => ways.map((way) => `${way}: ${revision} [{"type":"text","text":"42"}]`)),
    );
  });
});
