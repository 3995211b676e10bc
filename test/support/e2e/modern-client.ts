import { Client, fromJsonSchema, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export const MODERN = '2026-07-28';
/** A resource whose URI no header can carry as it is. */
export const TEMPLATE = 'test://template/Größe 日本/data';

/** An SDK v2 client pinned to 2026-07-28; it answers whatever a server asks of it, and keeps what it was asked and told. */
export async function connect(address: string) {
  const notified: string[] = [];
  const asked: string[] = [];
  const logged: unknown[] = [];
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const client = new Client({ name: 'portcullis-e2e', version: '1.0.0' }, { capabilities, versionNegotiation: { mode: { pin: MODERN } } });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: params.message.includes('colour') ? { color: 'blue' } : { name: 'e2e caller' } };
  });
  client.setRequestHandler('sampling/createMessage', () => {
    asked.push('sampling');
    return { model: 'stub', role: 'assistant', content: { type: 'text', text: 'sampled' } };
  });
  client.setRequestHandler('roots/list', () => {
    asked.push('roots');
    return { roots: [{ uri: 'file:///e2e' }] };
  });
  client.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params.data));
  client.fallbackNotificationHandler = async ({ method, params }) => {
    notified.push(typeof params?.uri === 'string' ? `${method} ${params.uri}` : method);
  };
  const transport = new StreamableHTTPClientTransport(new URL(address));
  await client.connect(transport);
  return { client, transport, notified, asked, logged };
}

/**
 * Everything a modern client does with the server of `startModernServer`, or the same hosted; failures with all that the peer said.
 * `uri` is what it reads: one that the template of the server makes.
 */
export async function useAll(address: string, uri = TEMPLATE) {
  const { client, transport, asked, logged } = await connect(address);
  const say = async (name: string, args: Readonly<Record<string, unknown>> = {}) => {
    const { content } = await client.callTool({ name, arguments: { ...args } });
    return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
  };
  try {
    const { tools } = await client.listTools();
    const progress: number[] = [];
    await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, { onprogress: (step) => void progress.push(step.progress) });
    const rounds = await say('test_input_required_result_multi_round');
    const inputs = await say('test_input_required_result_multiple_inputs');
    const meta = { 'io.modelcontextprotocol/logLevel': 'debug' };
    await client.callTool({ name: 'test_logging_tool', arguments: {}, _meta: meta });
    const failures: unknown[][] = [];
    const fail = async (what: string, request: Promise<unknown>) => {
      const said: unknown = await request.catch((error: Error & { code?: unknown; data?: unknown }) => [
        error.name,
        error.code,
        error.message,
        error.data,
      ]);
      failures.push([what, said]);
    };
    await fail('unknown tool', client.callTool({ name: 'none', arguments: {} }));
    await fail('unknown resource', client.readResource({ uri: 'test://none' }));
    await fail('unknown prompt', client.getPrompt({ name: 'none' }));
    await fail('unknown method', client.request({ method: 'acme/none' }, fromJsonSchema({ type: 'object' })));
    return {
      revision: transport.protocolVersion,
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      tools,
      prompts: await client.listPrompts(),
      resources: await client.listResources(),
      templates: await client.listResourceTemplates(),
      prompt: await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'ä', arg2: '"' } }),
      read: await client.readResource({ uri }),
      contents: await client.callTool({ name: 'test_multiple_content_types', arguments: {} }),
      error: await client.callTool({ name: 'test_error_handling', arguments: {} }),
      structured: (await client.callTool({ name: 'double', arguments: { a: 21 } })).structuredContent,
      region: await say('test_x_mcp_header', { region: ' Süd\n', level: 1 }),
      large_length: (await say('repeat', { what: 'é"\\', times: 100_000 })).length,
      sent_length: (await say('repeat', { what: 'x'.repeat(1_500_000), times: 1 })).length,
      progress,
      rounds,
      inputs,
      logged,
      failures,
      asked,
    };
  } finally {
    await client.close();
  }
}

/** One modern request for `fetch`. `id` is raw JSON text. */
export function modernPost(method: string, params: Readonly<Record<string, unknown>>, id = '1') {
  const name = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  const _meta = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...name,
    },
    body: `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify({ ...params, _meta })}}`,
  };
}
