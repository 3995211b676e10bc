// The client that the official conformance suite runs: it connects to the URL that is its last argument and uses all that is there.
import { type Client, connect, type Tool } from '../../../../src/client.js';

interface Context {
  /** What a scenario wants called. */
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
}

const { toolCalls }: Context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const url = process.argv.at(-1) as string;

const client = await connect(
  { http: url },
  {
    elicit: (params) => ({ action: 'accept', content: 'requestedSchema' in params ? filled(params.requestedSchema, 'x') : {} }),
    sample: () => ({ role: 'assistant', model: 'stub', content: { type: 'text', text: 'sampled' } }),
    roots: () => [{ uri: 'file:///conformance' }],
  },
);
const tools = await client.listTools();
for (const call of toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsOf(tool, tools) }))) {
  await quietly(client.callTool(call.name, call.arguments));
}
for (const { name } of await listed(client.listPrompts())) await quietly(client.getPrompt(name));
for (const { uri } of await listed(client.listResources())) await quietly(client.readResource(uri));
await (client satisfies Client).close();

/** Defaults where the schema has some, else something of the right type. */
function filled(schema: object, text: string): Readonly<Record<string, unknown>> {
  const { properties = {} } = schema as {
    readonly properties?: Readonly<Record<string, { readonly type?: string; readonly default?: unknown }>>;
  };
  const some = (type: string | undefined): unknown =>
    type === 'number' || type === 'integer' ? 5 : type === 'boolean' ? true : type === 'object' ? {} : type === 'array' ? [] : text;
  return Object.fromEntries(Object.entries(properties).map(([name, { type, default: fallback }]) => [name, fallback ?? some(type)]));
}

/** The echo of a schema gets the schema of the tool beside it. */
function argumentsOf(tool: Tool, all: readonly Tool[]): Readonly<Record<string, unknown>> {
  if (!tool.name.endsWith('schema_echo')) return filled(tool.inputSchema, 'x');
  return { schema: all.find(({ name }) => name !== tool.name)?.inputSchema };
}

/** A scenario may want a call to fail. */
async function quietly(call: Promise<unknown>): Promise<void> {
  await call.catch((error: Error) => console.error(error.message));
}

function listed<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  return list.catch(() => []);
}
