import { fromJsonSchema, inputRequired, McpServer, ResourceTemplate, type ServerContext } from '@modelcontextprotocol/server';
import { ASKING_TOOLS } from './asking-tools.js';
import { CONTENT_TOOLS } from './content-tools.js';
import { type FixtureTools, object, PNG, text } from './feature.js';
import { askFor, given, ROUND_TOOLS, stateCodec } from './rounds.js';

/** What a tool may tell every open subscription. */
export interface ChangeNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
}

/** A server with every feature that the conformance suite asks for under the suite's names; one a session or a modern request. */
export function createConformanceServer(notifier: ChangeNotifier): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: stateCodec.verify },
    },
  );
  const tools: FixtureTools = { ...CONTENT_TOOLS, ...ASKING_TOOLS, ...ROUND_TOOLS, ...triggers(notifier) };
  for (const [name, { input, run }] of Object.entries(tools)) {
    const inputSchema = fromJsonSchema<Record<string, unknown>>(input ?? object({}));
    server.registerTool(name, { description: name, inputSchema }, (args, context) => run(args, context));
  }
  registerResources(server);
  registerPrompts(server);
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.server.setRequestHandler('logging/setLevel', () => ({}));
  server.server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return server;
}

const triggers = (notifier: ChangeNotifier): FixtureTools => ({
  test_trigger_tool_change: {
    async run() {
      notifier.toolsChanged();
      return text('told');
    },
  },
  test_trigger_prompt_change: {
    async run() {
      notifier.promptsChanged();
      return text('told');
    },
  },
});

function registerResources(server: McpServer): void {
  const textual = (uri: string, content: string) => ({ contents: [{ uri, mimeType: 'text/plain', text: content }] });
  server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, ({ href }) =>
    textual(href, 'This is the content of the static text resource.'),
  );
  server.registerResource('watched-resource', 'test://watched-resource', { mimeType: 'text/plain' }, ({ href }) =>
    textual(href, 'Watched resource content'),
  );
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
  }));
}

function registerPrompts(server: McpServer): void {
  const said = (...contents: readonly object[]) => ({ messages: contents.map((content) => ({ role: 'user', content })) }) as never;
  const saidText = (value: string) => said({ type: 'text', text: value });
  const strings = (...names: readonly string[]) =>
    fromJsonSchema<Record<string, string>>(object(Object.fromEntries(names.map((name) => [name, { type: 'string' }])), ...names));

  server.registerPrompt('test_simple_prompt', { description: 'Without arguments.' }, () =>
    saidText('This is a simple prompt for testing.'),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments.', argsSchema: strings('arg1', 'arg2') },
    ({ arg1, arg2 }) => saidText(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource.', argsSchema: strings('resourceUri') },
    ({ resourceUri }) =>
      said(
        { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
        { type: 'text', text: 'Please process the embedded resource above.' },
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With an image.' }, () =>
    said({ type: 'image', data: PNG, mimeType: 'image/png' }, { type: 'text', text: 'Please analyze the image above.' }),
  );
  // A prompt without arguments gets the context first, which its type does not say.
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first.' }, ((context: ServerContext) => {
    const asked = given(context, 'user_context', 'context');
    if (asked !== undefined) return saidText(`Use the following context: ${asked}`);
    return inputRequired({ inputRequests: { user_context: askFor('What context should the prompt use?', 'context') } });
  }) as never);
}
