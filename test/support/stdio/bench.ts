import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Call } from '../../../src/contract/runtime.js';
import { createStdio, type StdioOptions } from '../../../src/runtime/peer/stdio.js';
import { createSessionSeal } from '../../../src/runtime/shared/session-seal.js';
import { makeLog, type TestLog } from '../../../src/testing.js';
import { createFakeExchange, type FakeAnswer, type FakeExchange, type FakeExchangeInit } from '../fake-exchange.js';
import { type CallInit, createTold, delay, fields, legacyCall, modernCall, PEER_BRIDGE, realClock } from '../proxied-bench.js';
import { repositoryPath } from '../repository.js';

/** The built fixture server. */
export const FIXTURE = repositoryPath('dist/test/support/stdio/server.js');

/** A started stdio runtime and what it told. */
export interface StdioBench {
  readonly runtime: ReturnType<typeof createStdio>;
  readonly log: TestLog;
  /** What telemetry was told. */
  readonly told: readonly string[];
  readonly junk: readonly string[];
  readonly ends: readonly string[];
  send(call: Call, init?: FakeExchangeInit): FakeExchange;
  /** A modern `tools/call`. */
  tool(name: string, args?: object, init?: CallInit): FakeExchange;
  /** Begins a legacy session; the client half of it. */
  session(init?: CallInit): Promise<ClientSession>;
  /** Resolves when the runtime's numbers are as wanted; rejects after 8 s. */
  settled(wanted: Partial<Readonly<Record<'children' | 'sessions' | 'calls' | 'leased' | 'held' | 'bridged', number>>>): Promise<void>;
}

export interface ClientSession {
  readonly id: string;
  send(method: string, params?: object, over?: Partial<Call>): FakeExchange;
  tool(name: string, args?: object, over?: Partial<Call>): FakeExchange;
  bare(kind: 'get_stream' | 'session_end'): FakeExchange;
  /** A client's answer to a request of the server. */
  answer(id: string, result: object): FakeExchange;
}

const OPEN = new Set<ReturnType<typeof createStdio>>();
/** While no child runs, nothing else keeps the process until the next start. */
let held: NodeJS.Timeout | undefined;

/** Closes every runtime that is open: for `afterEach`, so that a failed test does not keep the process. */
export async function closeBenches(): Promise<void> {
  const open = [...OPEN];
  OPEN.clear();
  await Promise.all(open.map((runtime) => runtime.close(1000)));
  clearInterval(held);
}

/** A runtime on the fixture server in a mode; `closeBenches` closes it. */
export async function openStdio(
  mode: string,
  options: Partial<StdioOptions> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<StdioBench> {
  const log = makeLog();
  const told = createTold();
  const junk: string[] = [];
  const ends: string[] = [];
  const seal = createSessionSeal({ keys: ['test secret'], ttl_s: 3600, clock: realClock });
  const runtime = createStdio(
    {
      name: 'child',
      command: process.execPath,
      args: [FIXTURE, mode],
      cwd: '/',
      env: {},
      max_children: 16,
      max_sessions: 8,
      max_sessions_per_caller: 4,
      max_pending: 64,
      idle_ttl_ms: 60_000,
      start_timeout_ms: 10_000,
      max_line_bytes: 2_000_000,
      version: '0',
      bridge: PEER_BRIDGE,
      ...options,
    },
    {
      log,
      clock: realClock,
      telemetry: told.telemetry,
      seal,
      host: { env: { PATH: process.env.PATH, ...env }, kill: (pid, signal) => process.kill(pid, signal) },
      junk: (reason) => void junk.push(reason),
      ended: (end) => void ends.push(end),
    },
  );
  OPEN.add(runtime);
  clearInterval(held);
  held = setInterval(() => undefined, 1000);
  await runtime.start(new AbortController().signal);
  const send: StdioBench['send'] = (call, init) => {
    const exchange = createFakeExchange(init);
    runtime.handle(call, exchange);
    return exchange;
  };
  return {
    runtime,
    log,
    told: told.lines,
    junk,
    ends,
    send,
    tool: (name, args = {}, init = {}) => send(modernCall('tools/call', { name, arguments: args }, init)),
    session: (init) => openSession(send, init),
    async settled(wanted) {
      for (let i = 0; i < 400; i++) {
        const { peers } = runtime;
        if (Object.entries(wanted).every(([key, value]) => peers[key as 'calls'] === value)) return;
        await delay(20);
      }
      throw new Error(`not settled: ${JSON.stringify(runtime.peers)}, wanted ${JSON.stringify(wanted)}`);
    },
  };
}

const INIT = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 't', version: '0' } };

async function openSession(send: StdioBench['send'], init: CallInit = {}): Promise<ClientSession> {
  const begun = await send(legacyCall('initialize', INIT, init)).done;
  const id = fields(begun.headers)['mcp-session-id'] ?? '';
  if (begun.status !== 200 || id === '') throw new Error(`no session: ${JSON.stringify(begun)} ${begun.body}`);
  const own: CallInit = { ...init, headers: { ...init.headers, 'mcp-session-id': id } };
  const call = (method: string, params: object, over: Partial<Call> = {}): FakeExchange => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...(over.kind === 'notification' ? {} : { id: 0 }), method, params });
    const body = Buffer.from(over.id === undefined ? text : text.replace('"id":0', `"id":${over.id}`));
    return send(legacyCall(method, params as Record<string, unknown>, { ...own, over: { body, ...over } }));
  };
  return {
    id,
    send: (method, params = {}, over = {}) =>
      call(method, params, { id: over.kind === 'notification' ? undefined : `"${randomUUID()}"`, ...over } as Partial<Call>),
    tool: (name, args = {}, over = {}) => call('tools/call', { name, arguments: args }, { id: '1', ...over }),
    bare: (kind) => send(legacyCall('', {}, { ...own, over: { kind, id: undefined, body: Buffer.alloc(0) } })),
    answer: (answered, result) =>
      send(
        legacyCall(
          '',
          {},
          {
            ...own,
            over: {
              kind: 'response',
              id: answered,
              body: Buffer.from(`{"jsonrpc":"2.0","id":${answered},"result":${JSON.stringify(result)}}`),
            },
          },
        ),
      ),
  };
}

/** The result or error of an answer, whole or as the last event. */
export function messageOf({
  body,
}: FakeAnswer): { readonly id: unknown; readonly result?: never; readonly error?: never } & Readonly<Record<string, never>> {
  const text = body.toString();
  const events = eventsOf(text);
  return JSON.parse(events.at(-1) ?? text);
}

/** The data of each event of a stream. */
export function eventsOf(text: string): readonly string[] {
  return text.split('\n\n').flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? []);
}

/** The text of a tool's answer. */
export function textOf(answer: FakeAnswer): string {
  if (answer.error !== undefined) return `error: ${answer.error.code}`;
  const { result, error } = messageOf(answer) as { result?: { content: { text: string }[] }; error?: { message: string } };
  return result?.content.map(({ text }) => text).join('\n') ?? `error: ${error?.message}`;
}

/** True while a process runs; one that has ended and that nobody has asked about yet does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
