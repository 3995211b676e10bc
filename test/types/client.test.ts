// Assertions about the types of `portcullis/client`. The compiler makes them: a change of a type fails the build.
import { it } from 'node:test';
import type {
  Agreement,
  CallOptions,
  Client,
  ClientError,
  ClientErrorCode,
  CompletionQuestion,
  ConnectOptions,
  ContentBlock,
  connect,
  createMemoryTransport,
  LoadTransportOptions,
  loadTransport,
  Prompt,
  Resource,
  ResourceTemplate,
  Subscription,
  SubscriptionFilter,
  Target,
  Tool,
  ToolResult,
  Transport,
} from '../../src/client.js';
import { same } from '../support/same-type.js';

type Answer<K extends keyof Client> = Client[K] extends (...args: never[]) => Promise<infer T> ? T : never;

it('types of portcullis/client', () => {
  same<Parameters<typeof connect>, [target: Target, options?: ConnectOptions | undefined]>();
  same<ReturnType<typeof connect>, Promise<Client>>();
  same<Parameters<typeof loadTransport>, [module: string, options?: LoadTransportOptions | undefined]>();
  same<ReturnType<typeof loadTransport>, Promise<Transport>>();
  same<ReturnType<typeof createMemoryTransport> extends Transport ? true : false, true>();

  same<Client['server'], Agreement>();
  same<Answer<'callTool'>, ToolResult>();
  same<
    Parameters<Client['callTool']>,
    [name: string, args?: Readonly<Record<string, unknown>> | undefined, options?: CallOptions | undefined]
  >();
  same<ToolResult['content'], readonly ContentBlock[]>();
  same<ToolResult['structuredContent'], unknown>();
  same<Answer<'listTools'>, readonly Tool[]>();
  same<Answer<'listResources'>, readonly Resource[]>();
  same<Answer<'listResourceTemplates'>, readonly ResourceTemplate[]>();
  same<Answer<'listPrompts'>, readonly Prompt[]>();
  same<
    Parameters<Client['getPrompt']>,
    [name: string, args?: Readonly<Record<string, string>> | undefined, options?: CallOptions | undefined]
  >();
  same<Parameters<Client['listen']>, [filter: SubscriptionFilter, options?: CallOptions | undefined]>();
  same<Answer<'listen'>, Subscription>();
  same<Answer<'request'>, Readonly<Record<string, unknown>>>();
  same<Answer<'close'>, void>();
  same<ClientError['code'], ClientErrorCode>();
  same<ConnectOptions['era'], 'auto' | 'modern' | 'legacy' | undefined>();

  same<Parameters<Client['complete']>[0], CompletionQuestion>();
  ({ prompt: 'p', argument: 'a', value: '' }) satisfies CompletionQuestion;
  ({ template: 'x:{a}', argument: 'a', value: '', arguments: { b: '1' } }) satisfies CompletionQuestion;
  // @ts-expect-error neither a prompt nor a template
  ({ argument: 'a', value: '' }) satisfies CompletionQuestion;
  // @ts-expect-error both
  ({ prompt: 'p', template: 'x:{a}', argument: 'a', value: '' }) satisfies CompletionQuestion;
  // @ts-expect-error a limit is a number
  ({ timeout_ms: '1s' }) satisfies ConnectOptions;
});
