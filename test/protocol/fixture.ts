import { createHub, defineServer, elicit, type Hub, type Server } from '../../src/server.js';
import { systemClock } from '../../src/system-clock.js';
import { META, modernBody, modernHead, post } from '../demo/rpc.js';
import { type HostedHttp, servingHosted } from '../support/hosted-http.js';

/** What a handler of the fixture saw. */
export interface Seen {
  cancelled: number;
  late: (() => void) | undefined;
}

/** A server with one of everything, behind a listener. */
export interface ProtocolFixture extends HostedHttp {
  readonly hub: Hub;
  readonly seen: Seen;
}

export async function protocolFixture(): Promise<ProtocolFixture> {
  const hub = createHub();
  const seen: Seen = { cancelled: 0, late: undefined };
  const http = await servingHosted(fixtureServer(hub, seen), systemClock, { limits: { request_timeout_ms: 5_000 } });
  return { ...http, hub, seen };
}

export function fixtureServer(hub: Hub, seen: Seen): Server {
  const run = () => 'ran';
  return defineServer({
    name: 'fixture',
    version: '1',
    changes: hub,
    page_size: 4,
    extensions: { 'com.example/echo': { methods: { 'echo/say': { run: ({ text }) => ({ text }) } } } },
    tools: [
      {
        name: 'echo',
        input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        run: ({ text }) => String(text),
      },
      {
        name: 'mirrored',
        input: {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer', 'x-mcp-header': 'Level' } },
        },
        run,
      },
      {
        name: 'count',
        run(_input, context) {
          for (const done of [1, 1, 0.5, 2]) context.progress(done, 2);
          context.log('info', 'counted');
          seen.late = () => {
            context.progress(3);
            context.log('info', 'late');
          };
          return 'counted';
        },
      },
      {
        name: 'wait',
        run: (_input, context) =>
          new Promise((_resolve, reject) => {
            context.progress(1);
            context.signal.addEventListener('abort', () => {
              seen.cancelled += 1;
              reject(new Error('nobody waits'));
            });
          }),
      },
      {
        name: 'ask',
        run: (_input, context) =>
          context.responses === undefined
            ? context.inputRequired({ requests: { who: elicit('Who?', { type: 'object', properties: {} }) }, state: 1 })
            : 'asked',
      },
      {
        name: 'sum',
        output: { type: 'object', properties: { sum: { type: 'number' } } },
        run: () => ({ structuredContent: { sum: 'three' } }),
      },
      { name: 'hidden', scopes: ['never'], run },
      { name: 'broken', run: () => Promise.reject(new Error('the password is hunter2')) },
      { name: 'odd', run: () => ({ content: 'no list' }) as never },
    ],
    resources: [
      { uri: 'x:bytes', name: 'bytes', caching: { ttl_ms: 1000 }, read: () => new Uint8Array([0, 255]) },
      { uri: 'x:empty', name: 'empty', read: () => ({ contents: [] }) },
      { uri: 'x:hidden', name: 'hidden', scopes: ['never'], read: run },
      {
        uri: 'x:asks',
        name: 'asks',
        read: (_input, context) => (context.state === undefined ? context.inputRequired({ state: 1 }) : 'text'),
      },
    ],
    prompts: [
      { name: 'greet', arguments: [{ name: 'who', required: true }], get: ({ who }) => `Hello ${who}` },
      { name: 'hidden', scopes: ['never'], arguments: [{ name: 'a' }], get: run },
      { name: 'odd', get: () => ({ messages: 'none' }) as never },
    ],
    completions: [
      { prompt: 'greet', argument: 'who', complete: () => ['Ada'] },
      { prompt: 'hidden', argument: 'a', complete: () => ['secret'] },
    ],
  });
}

/** A modern call of a tool; `init` changes headers, members of `_meta` and the arguments. */
export function call(
  url: string,
  name: string,
  init: { args?: object; meta?: object; headers?: Record<string, string>; more?: object } = {},
) {
  const params = { name, arguments: init.args ?? {}, ...init.more };
  return post(url, modernBody('tools/call', params, init.meta), { ...modernHead('tools/call', name), ...init.headers });
}

/** The same, as a response that streams. */
export function open(
  url: string,
  method: string,
  params: Record<string, unknown>,
  meta: object = {},
  signal?: AbortSignal,
  id: string | number = 1,
): Promise<Response> {
  const headers = modernHead(method, params.name as string | undefined);
  return fetch(url, { method: 'POST', headers, body: modernBody(method, params, meta, id), ...(signal === undefined ? {} : { signal }) });
}

export { META, modernBody, modernHead, post };
