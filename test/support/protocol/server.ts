// The module of the hosted server that test/protocol asks: one component for each thing that the specification speaks of. A test
// imports it to drive it, since the gateway runs in the same process.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ContentBlock,
  createHub,
  defineServer,
  defineTool,
  elicit,
  type HandlerContext,
  type InputRequired,
  listRoots,
  type PromptDefinition,
  type ResourceDefinition,
  sample,
  type ToolDefinition,
  Type,
} from '../../../src/server.js';

/** Publishes to every subscription. */
export const hub = createHub();
/** What handlers noticed, in order. */
export const noticed: string[] = [];

const NAME_FORM = Type.Object({ name: Type.String() });
const QUESTIONS = {
  name: elicit('Your name?', NAME_FORM),
  word: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'A word?' } }], maxTokens: 5 }),
  roots: listRoots(),
} as const;

/** Asks for a name once, then says it. */
function askName(context: HandlerContext): string | InputRequired {
  const { content } = (context.responses?.name ?? {}) as { readonly content?: { readonly name?: unknown } };
  if (typeof content?.name !== 'string') return context.inputRequired({ requests: { name: QUESTIONS.name }, state: { asked: true } });
  return `${JSON.stringify(context.state)} ${content.name}`;
}

const TOOLS: readonly ToolDefinition[] = [
  defineTool({ name: 'echo', input: Type.Object({ text: Type.String() }), run: ({ text }) => text }),
  { name: 'client', run: (_input, { client }) => JSON.stringify(client) },
  {
    name: 'steps',
    async run(_input, context) {
      for (const done of [0.5, 1, 1, 0.2, Number.NaN, 2]) context.progress(done, 2);
      for (const level of ['debug', 'info', 'error'] as const) context.log(level, level);
      setTimeout(() => context.progress(3, 2), 20).unref();
      await sleep(5, undefined, { signal: context.signal });
      return 'done';
    },
  },
  {
    name: 'hang',
    async run(_input, context) {
      noticed.push('hang began');
      context.progress(1);
      await sleep(20_000, undefined, { signal: context.signal }).catch(() => undefined);
      noticed.push(`hang cancelled=${context.cancelled}`);
      context.progress(2);
      return 'nobody hears';
    },
  },
  { name: 'ask', run: (_input, context) => askName(context) },
  defineTool({
    name: 'ask_for',
    input: Type.Object({ what: Type.Union([Type.Literal('name'), Type.Literal('word'), Type.Literal('roots')]) }),
    run: ({ what }, context) =>
      context.responses === undefined
        ? context.inputRequired({ requests: { [what]: QUESTIONS[what] } })
        : JSON.stringify(context.responses),
  }),
  { name: 'ask_state', run: (_input, context) => context.inputRequired({ state: { only: 'a state' } }) },
  {
    name: 'routed',
    input: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: { type: 'object', properties: { level: { type: 'integer', 'x-mcp-header': 'Level' } } },
      },
    },
    run: (input) => JSON.stringify(input),
  },
  defineTool({
    name: 'structured',
    input: Type.Object({ good: Type.Boolean() }),
    output: Type.Object({ count: Type.Integer() }),
    run: ({ good }) => ({ structuredContent: { count: good ? 1 : ('many' as never) } }),
  }),
  {
    name: 'crash',
    run() {
      throw new Error('password=hunter2 at db.internal');
    },
  },
  { name: 'odd', run: () => ({ content: 'no list' }) as never },
  { name: 'for_admins', scopes: ['admin'], run: () => 'secret' },
];

const BYTES = Uint8Array.from({ length: 256 }, (_, n) => n);

const RESOURCES: readonly ResourceDefinition[] = [
  { uri: 'test://text', name: 'text', mimeType: 'text/plain', caching: { ttl_ms: 5000, scope: 'public' }, read: () => 'words' },
  { uri: 'test://bytes', name: 'bytes', mimeType: 'application/octet-stream', read: () => BYTES },
  { uri: 'test://ask', name: 'ask', caching: { ttl_ms: 5000 }, read: (_input, context) => askName(context) },
  { uri: 'test://empty', name: 'empty', read: () => ({ contents: [] }) },
  { uri: 'test://for-admins', name: 'for admins', scopes: ['admin'], read: () => 'secret' },
];

const data = Buffer.from(BYTES).toString('base64');
const MEDIA: readonly ContentBlock[] = [
  { type: 'image', data, mimeType: 'image/png' },
  { type: 'audio', data, mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'test://text', mimeType: 'text/plain', text: 'words' } },
  { type: 'resource', resource: { uri: 'test://bytes', mimeType: 'application/octet-stream', blob: data } },
];

const PROMPTS: readonly PromptDefinition[] = [
  { name: 'greet', arguments: [{ name: 'who', required: true }], get: ({ who }) => `Hello, ${who}` },
  { name: 'media', get: () => ({ messages: MEDIA.map((content) => ({ role: 'user', content })) }) },
  { name: 'ask', get: (_input, context) => askName(context) },
  { name: 'odd', get: () => ({ messages: 'none' }) as never },
  { name: 'for_admins', scopes: ['admin'], arguments: [{ name: 'who' }], get: () => 'secret' },
];

export const server = defineServer({
  name: 'protocol',
  version: '1.0.0',
  tools: TOOLS,
  resources: RESOURCES,
  templates: [
    { uriTemplate: 'test://item/{id}', name: 'item', read: ({ variables: { id } }) => (id === 'none' ? undefined : `item ${id}`) },
  ],
  prompts: PROMPTS,
  completions: ['greet', 'for_admins'].map((prompt) => ({ prompt, argument: 'who', complete: () => [`${prompt} Ada`] })),
  changes: hub,
  extensions: { 'com.example/echo': { methods: { 'echo/say': { run: ({ text }) => ({ text }) } } } },
  caching: { ttl_ms: 60_000, scope: 'public' },
  page_size: 3,
});
