// biome-ignore-all lint/suspicious/noExplicitAny: what a test sends is what its tool expects.
// An MCP server over stdio for tests: legacy (2025-11-25) or modern (2026-07-28), raw enough to misbehave on demand. The first
// argument says how: legacy, modern, dual, mute, exit, or flaky (ends 50 ms after the start); silent or fragile (says nothing, or ends,
// once it was asked server/discover); asking (asks its client before it answers anything); discovers (answers server/discover with the
// members of the second argument; refuses as the third: it opens no session). STARTS names a file that gets a line for each start; WAIT_MS is how long it takes to start.
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, readdirSync, readlinkSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly uri?: string;
    readonly arguments?: Readonly<Record<string, any>>;
    readonly _meta?: Readonly<Record<string, unknown>>;
    readonly requestId?: unknown;
    readonly notifications?: object;
    readonly inputResponses?: unknown;
    readonly requestState?: unknown;
  };
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

const [mode = 'legacy', ...rest] = process.argv.slice(2);
const ASKED = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object' } };
const cancelled: unknown[] = [];
const asked = new Map<unknown, (answer: Message) => void>();
const watched = new Set<string>();
let calls = 0;
let listening: unknown;
let deaf = false;

const write = (text: string): void => void process.stdout.write(`${text}\n`);
const send = (message: object): void => write(JSON.stringify({ jsonrpc: '2.0', ...message }));
const notify = (method: string, params: object = {}): void => send({ method, params });
const texts = (...list: readonly string[]) => ({ content: list.map((text) => ({ type: 'text', text })) });
const modern = mode === 'modern' || mode === 'dual';
const info = { name: 'fixture', version: '1' };
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

const MIRRORED = { type: 'object', properties: { v: { type: 'string', 'x-mcp-header': 'V' } } };

/** The text of `arguments` as it came: nothing parses the numbers. */
const rawArguments = (line: string): string => /"arguments":(\{[^}]*\})/.exec(line)?.[1] ?? '{}';

type Tool = (args: Readonly<Record<string, any>>, message: Message, line: string) => object | undefined | Promise<object | undefined>;

const TOOLS: Readonly<Record<string, Tool>> = {
  echo: ({ text }, { id }, line) => {
    if (typeof text === 'string') return texts(text);
    write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":${rawArguments(line)}}}`);
    return undefined;
  },
  sleep_echo: async ({ ms, v }) => {
    await sleep(ms);
    return texts(v);
  },
  mirrored: ({ v }) => texts(String(v)),
  progress: async ({ steps, ms }, { params }) => {
    const progressToken = params?._meta?.progressToken ?? 'none';
    for (let progress = 1; progress <= steps; progress++) {
      await sleep(ms);
      notify('notifications/progress', { progressToken, progress, total: steps, extra: 'kept' });
    }
    setTimeout(() => notify('notifications/progress', { progressToken, progress: 99 }), 20);
    return texts('done');
  },
  ask: (args) =>
    new Promise((resolve) => {
      asked.set(args.id ?? 'e1', ({ result, error }) => resolve(texts(JSON.stringify(result ?? error))));
      send({
        id: args.id ?? 'e1',
        method: args.method ?? 'elicitation/create',
        params: { message: 'Who?', requestedSchema: { type: 'object' } },
      });
    }),
  /** Asks two things at once, and ends with the first answer that it gets, in so many bytes more. */
  either: ({ bytes = 0 }) =>
    new Promise((resolve) => {
      for (const id of ['e1', 'e2']) {
        asked.set(id, ({ result, error }) => resolve(texts(JSON.stringify(result ?? error), 'x'.repeat(bytes))));
        send({ id, method: 'elicitation/create', params: { message: id, requestedSchema: { type: 'object' } } });
      }
    }),
  /** Asks, and never answers. */
  ask_hang: () => {
    send({ id: 'e1', method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object' } } });
    return undefined;
  },
  ping: () =>
    new Promise((resolve) => {
      asked.set('p1', ({ result }) => resolve(texts(JSON.stringify(result))));
      send({ id: 'p1', method: 'ping' });
    }),
  introduced: async () => texts(JSON.stringify(await introduce())),
  log: async ({ lines = 1 }) => {
    for (let i = 1; i <= lines; i++) notify('notifications/message', { level: 'info', data: `line ${i}` });
    return texts('logged');
  },
  long: async ({ bytes, order, ms = 0, method }, { id }) => {
    const text = 'x'.repeat(bytes);
    const parts = {
      id_first: [`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`, `${text}"}]}}`],
      id_last: [`{"result":{"content":[{"type":"text","text":"`, `${text}"}]},"jsonrpc":"2.0","id":${id}}`],
      request: [`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{"text":"`, `${text}"}}`],
    }[order as string] as string[];
    const done =
      order === 'request'
        ? new Promise<object>((resolve) => asked.set(id, ({ error }) => resolve(texts(JSON.stringify(error)))))
        : undefined;
    process.stdout.write(ms === 0 ? `${parts.join('')}\n` : parts.join(''));
    await sleep(ms);
    return await done;
  },
  hang: () => undefined,
  cancelled: () => texts(JSON.stringify(cancelled)),
  meta: (_args, { params }) => texts(JSON.stringify(params?._meta ?? null)),
  pid: () => texts(String(process.pid)),
  count: () => texts(String(++calls)),
  exit: () => process.exit(0),
  crash: () => process.exit(3),
  exit_third: () => (++calls < 3 ? undefined : process.exit(1)),
  close_stdout: () => {
    process.stdout.destroy();
    closeSync(1);
    return undefined;
  },
  close_stdin: () => {
    process.stdin.destroy();
    return texts('closed');
  },
  environment: () =>
    texts(
      JSON.stringify({
        env: process.env,
        cwd: process.cwd(),
        argv: rest,
        fds: Object.fromEntries(
          readdirSync('/proc/self/fd').flatMap((fd) => {
            try {
              return [[fd, readlinkSync(`/proc/self/fd/${fd}`)]];
            } catch {
              return [];
            }
          }),
        ),
      }),
    ),
  junk: (_args, { id }) => {
    write('Starting...');
    write('\u001b[32m*** banner ***\u001b[0m');
    write('');
    write('{"level":"info"}');
    write('{"jsonrpc":"2.0","id":999999,"result":{}}');
    write('[{"jsonrpc":"2.0","id":1,"result":{}}]');
    write('x'.repeat(2 * 1024 * 1024));
    send({ id, result: texts('good') });
    process.stdout.write('{"half":');
    return undefined;
  },
  noise: async (args) => {
    for (let i = 0; i < args.mb; i++) {
      if (!process.stderr.write(`${`noise ${i} `.padEnd(1000, '.')}\n`.repeat(1024)))
        await new Promise((go) => process.stderr.once('drain', go));
    }
    return texts('quiet');
  },
  flood: async (args) => {
    const junk = `${'{"junk":true} '.padEnd(1023, 'x')}\n`.repeat(1024);
    for (let i = 0; i < args.mb; i++) if (!process.stdout.write(junk)) await new Promise((go) => process.stdout.once('drain', go));
    return texts('flooded');
  },
  half: (_args, { id }) => {
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"con`, () => process.exit(0));
    return undefined;
  },
  bytewise: async (_args, { id }) => {
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: texts('a — b 😀') })}\n`);
    for (const byte of bytes) {
      writeSync(1, Uint8Array.of(byte));
      if (byte > 0x7f) await sleep(2);
    }
    return undefined;
  },
  wide: () => texts('€'.repeat(100_000)),
  bad_answer: (_args, { id }) => {
    write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{},"error":null}`);
    return undefined;
  },
  rounds: (_args, { params }) =>
    params?.inputResponses === undefined
      ? { resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create', params: ASKED } }, requestState: 'mine' }
      : texts(JSON.stringify([params.inputResponses, params.requestState])),
  changes: () => {
    const mark = listening === undefined ? undefined : { _meta: stamp(listening) };
    for (const kind of ['tools', 'prompts', 'resources']) notify(`notifications/${kind}/list_changed`, mark);
    for (const uri of ['test://a', 'test://b']) notify('notifications/resources/updated', { uri, ...mark });
    return texts([...watched].join(','));
  },
  stubborn: () => {
    process.on('SIGTERM', () => undefined);
    process.stdin.on('end', () => undefined);
    setInterval(() => undefined, 1000);
    return texts(String(process.pid));
  },
  grandchild: () => {
    const code = "process.on('SIGTERM',()=>{});setInterval(()=>{},1000)";
    // The mark of the test that started us, so that it finds this one too.
    const child = spawn(process.execPath, ['-e', code, ...rest], { stdio: ['ignore', 'inherit', 'inherit'] });
    return texts(String(child.pid));
  },
};

async function serve(message: Message, line: string): Promise<object | undefined> {
  const { id, method, params } = message;
  switch (method) {
    case 'initialize':
      if (mode === 'modern') return { error: { code: -32022, message: 'only modern', data: { supported: ['2026-07-28'] } } };
      if (rest[1] === 'refuses') return { error: { code: -32603, message: 'not today' } };
      return { protocolVersion: '2025-11-25', capabilities: CAPABILITIES, serverInfo: info, instructions: 'Use\nit.' };
    case 'server/discover':
      if (mode === 'silent') return await new Promise(() => (deaf = true));
      if (mode === 'fragile') process.exit(1);
      if (mode === 'discovers') return JSON.parse(rest[0] ?? '{}') as object;
      if (!modern) return { error: { code: -32601, message: 'Method not found' } };
      return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES, ttlMs: 0, cacheScope: 'private' };
    case 'ping':
      return {};
    case 'tools/list':
      return {
        ...(modern ? { ttlMs: 0, cacheScope: 'private' } : {}),
        tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: name === 'mirrored' ? MIRRORED : { type: 'object' } })),
      };
    case 'resources/read':
      return params?.uri === 'test://a'
        ? { contents: [{ uri: 'test://a', text: 'A' }], _meta: { own: 1 } }
        : { error: { code: -32002, message: 'Resource not found' } };
    case 'resources/subscribe':
      if (params?.uri === 'test://no') return { error: { code: -32602, message: 'no' } };
      watched.add(params?.uri ?? '');
      return {};
    case 'resources/unsubscribe':
      watched.delete(params?.uri ?? '');
      return {};
    case 'subscriptions/listen':
      listening = id;
      notify('notifications/subscriptions/acknowledged', { notifications: params?.notifications, _meta: stamp(id) });
      return undefined;
    case 'tools/call': {
      const tool = TOOLS[params?.name ?? ''];
      if (tool === undefined) return { error: { code: -32602, message: 'Unknown tool' } };
      return tool(params?.arguments ?? {}, message, line);
    }
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}

const stamp = (id: unknown) => ({ 'io.modelcontextprotocol/subscriptionId': id });

function take(line: string): void {
  const message = JSON.parse(line) as Message;
  const { id, method, params } = message;
  if (method === undefined) {
    asked.get(id)?.(message);
    return;
  }
  if (id === undefined) {
    if (method === 'notifications/cancelled') cancelled.push(params?.requestId);
    if (method === 'notifications/cancelled' && params?.requestId === listening) listening = undefined;
    return;
  }
  if (mode === 'mute' || deaf) return;
  void (mode === 'asking' ? introduce() : Promise.resolve())
    .then(() => serve(message, line))
    .then((answer) => {
      if (answer === undefined) return;
      send('error' in answer ? { id, ...answer } : { id, result: modern ? { resultType: 'complete', ...answer } : answer });
    });
}

/** What the client said to each question; nothing else is answered before. */
let introduced: Promise<readonly object[]> | undefined;
const introduce = (): Promise<readonly object[]> =>
  (introduced ??= Promise.all(
    ['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create', 'made/up'].map(
      (question) =>
        new Promise<object>((resolve) => {
          asked.set(`q-${question}`, ({ result, error }) => resolve({ question, result, error }));
          send({ id: `q-${question}`, method: question, params: {} });
        }),
    ),
  ));

if (process.env.STARTS !== undefined) appendFileSync(process.env.STARTS, `${process.pid}\n`);
if (process.env.WAIT_MS !== undefined) await sleep(Number(process.env.WAIT_MS));
if (mode === 'exit') process.exit(Number(rest[0] ?? 1));
if (mode === 'flaky') setTimeout(() => process.exit(1), 50);
let held = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (held + chunk).split('\n');
  held = lines.pop() ?? '';
  for (const line of lines) if (line !== '') take(line);
});
process.stderr.write('fixture is up\n');
