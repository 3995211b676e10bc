/** A JSON-RPC error as a value that handlers throw. */
export class DemoFault extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What a handler may use beside its params. */
export interface DemoContext {
  readonly modern: boolean;
  /** A request header, as it came through the gateway. */
  header(name: string): string | undefined;
  /** Tells progress; does nothing when the client gave no token. */
  progress(done: number, total: number, message: string): void;
  /** Settles after `delay_ms`; rejects when the client has left. */
  wait(delay_ms: number): Promise<void>;
}

type Params = Readonly<Record<string, unknown>>;
type Handler = (params: Params, context: DemoContext) => object | Promise<object>;

/** The header that the demo’s route forwards the identity in. */
const IDENTITY_HEADER = 'x-portcullis-identity';
/** A resource that changes every `TICK_MS`, for subscriptions. */
export const TICKING_URI = 'demo://ticks';
export const TICK_MS = 2_000;

const COUNT_MS = 300;
const MAX_COUNT = 60;
const INVALID_PARAMS = -32602;
const NOT_FOUND_LEGACY = -32002;
const GREETINGS: Readonly<Record<string, string>> = { de: 'Hallo', en: 'Hello', es: 'Hola', fr: 'Bonjour', it: 'Ciao', pt: 'Olá' };

const object = (properties: object, ...required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const TOOLS = [
  {
    name: 'echo',
    description: 'Returns the text it is given.',
    inputSchema: object({ text: { type: 'string', maxLength: 10_000 } }, 'text'),
  },
  {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }, 'a', 'b'),
    outputSchema: object({ sum: { type: 'number' } }, 'sum'),
  },
  {
    name: 'countdown',
    description: `Counts down, one step every ${COUNT_MS} ms, with progress. Stops when the client leaves.`,
    inputSchema: object({ from: { type: 'integer', minimum: 1, maximum: MAX_COUNT } }, 'from'),
  },
  {
    name: 'whoami',
    description: 'Shows who is calling, as the gateway says.',
    inputSchema: object({}),
    outputSchema: object({ identity: { type: ['string', 'null'] } }, 'identity'),
  },
];

const text = (value: string, more: object = {}) => ({ content: [{ type: 'text', text: value }], ...more });
const toolError = (message: string) => text(message, { isError: true });

const TOOL_CALLS: Readonly<Record<string, Handler>> = {
  echo: ({ text: said }) => (typeof said === 'string' && said.length <= 10_000 ? text(said) : toolError('text must be a string.')),
  add({ a, b }) {
    if (typeof a !== 'number' || typeof b !== 'number') return toolError('a and b must be numbers.');
    const structuredContent = { sum: a + b };
    if (!Number.isFinite(structuredContent.sum)) return toolError('The sum is too large.');
    return text(JSON.stringify(structuredContent), { structuredContent });
  },
  async countdown({ from }, context) {
    if (!Number.isInteger(from) || Number(from) < 1 || Number(from) > MAX_COUNT)
      return toolError(`from must be an integer from 1 to ${MAX_COUNT}.`);
    const total = Number(from);
    for (let done = 1; done <= total; done += 1) {
      await context.wait(COUNT_MS);
      context.progress(done, total, `${total - done} to go`);
    }
    return text(`Counted down from ${total}.`);
  },
  whoami(_params, context) {
    const forwarded = context.header(IDENTITY_HEADER);
    const structuredContent = { identity: forwarded === undefined ? null : readable(forwarded) };
    return text(structuredContent.identity ?? 'The gateway forwarded no identity.', { structuredContent });
  },
};

const PROMPTS = [
  {
    name: 'greet',
    description: 'Greets somebody.',
    arguments: [
      { name: 'name', description: 'Who is greeted.', required: true },
      { name: 'language', description: Object.keys(GREETINGS).join(', ') },
    ],
  },
];
const RESOURCES = [
  { uri: 'demo://about', name: 'about', description: 'What this server is.', mimeType: 'text/plain' },
  { uri: TICKING_URI, name: 'ticks', description: 'Changes all the time; subscribe to it.', mimeType: 'text/plain' },
];
const TEMPLATES = [{ uriTemplate: 'demo://greeting/{language}', name: 'greeting', mimeType: 'text/plain' }];

export const SERVER = { name: 'portcullis-demo', version: '1.0.0' };
export const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, completions: {} };
export const INSTRUCTIONS = 'A demonstration server behind a Portcullis gateway. Try echo, add, countdown and whoami.';

const cached = (result: object, ttlMs = 3_600_000) => ({ ...result, ttlMs, cacheScope: 'public' });

/** Every method of both eras but the handshakes and the subscriptions. Results are a modern client’s; caching hints are dropped for a legacy one. */
export const METHODS: Readonly<Record<string, Handler>> = {
  'tools/list': () => cached({ tools: TOOLS }),
  'tools/call': (params, context) => {
    const call = lookUp(TOOL_CALLS, params.name);
    if (call === undefined) throw new DemoFault(INVALID_PARAMS, 'Unknown tool.');
    const given = params.arguments ?? {};
    return isObject(given) ? call(given, context) : toolError('arguments must be an object.');
  },
  'resources/list': () => cached({ resources: RESOURCES }),
  'resources/templates/list': () => cached({ resourceTemplates: TEMPLATES }),
  'resources/read': (params, context) => {
    const found = typeof params.uri === 'string' ? read(params.uri) : undefined;
    if (found !== undefined) return cached({ contents: [{ uri: params.uri, mimeType: 'text/plain', text: found }] }, 0);
    throw new DemoFault(context.modern ? INVALID_PARAMS : NOT_FOUND_LEGACY, 'Resource not found.', { uri: params.uri });
  },
  'prompts/list': () => cached({ prompts: PROMPTS }),
  'prompts/get': (params) => {
    const given = isObject(params.arguments) ? params.arguments : {};
    if (params.name !== 'greet') throw new DemoFault(INVALID_PARAMS, 'Unknown prompt.');
    if (typeof given.name !== 'string') throw new DemoFault(INVALID_PARAMS, 'The argument name is missing.');
    const greeting = lookUp(GREETINGS, given.language ?? 'en') ?? GREETINGS.en;
    return { messages: [{ role: 'user', content: { type: 'text', text: `Say “${greeting}, ${given.name}!” in your own words.` } }] };
  },
  'completion/complete': (params) => {
    const argument = isObject(params.argument) ? params.argument : {};
    if (!isObject(params.ref) || typeof argument.value !== 'string') throw new DemoFault(INVALID_PARAMS, 'ref or argument is missing.');
    const begun = argument.value;
    const values = argument.name === 'language' ? Object.keys(GREETINGS).filter((language) => language.startsWith(begun)) : [];
    return { completion: { values, total: values.length, hasMore: false } };
  },
};

/** The JSON inside a base64url value, as the gateway forwards it; any other value as it is. */
function readable(forwarded: string): string {
  const inside = Buffer.from(forwarded, 'base64url').toString('utf8');
  try {
    return isObject(JSON.parse(inside)) ? inside : forwarded;
  } catch {
    return forwarded;
  }
}

function read(uri: string): string | undefined {
  if (uri === 'demo://about') return INSTRUCTIONS;
  if (uri === TICKING_URI) return 'tick';
  return uri.startsWith('demo://greeting/') ? lookUp(GREETINGS, uri.slice('demo://greeting/'.length)) : undefined;
}

function lookUp<V>(table: Readonly<Record<string, V>>, key: unknown): V | undefined {
  return typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
