import type { Identity } from '../../src/contract/identity.js';
import type { Call, CallKind } from '../../src/contract/runtime.js';
import type { ServerDefinition } from '../../src/contract/server.js';
import { defineServer } from '../../src/core/define/define-server.js';
import { subjectField } from '../../src/dialect/methods.js';
import { createExecutor } from '../../src/executor/bounded.js';
import type { ExecutorOptions } from '../../src/executor/executor.js';
import { createHosted, type HiddenCall, type HostedRuntime } from '../../src/runtime/hosted/hosted.js';
import { makeClock, type TestClock } from '../../src/testing/clock.js';
import { makeHead } from '../../src/testing/head.js';
import { makeLog, type TestLog } from '../../src/testing/log.js';
import { createFakeExchange, type FakeAnswer, type FakeExchange, type FakeExchangeInit } from './fake-exchange.js';

/** Parsed JSON, unchecked: assertions are its check. */
export type Json = ReturnType<typeof JSON.parse>;

export interface AskInit {
  readonly revision?: string;
  /** Raw JSON text. */
  readonly id?: string;
  /** More members of a modern `_meta`. */
  readonly meta?: object;
  readonly capabilities?: object;
  readonly identity?: Identity;
  readonly headers?: Readonly<Record<string, string>>;
  readonly exchange?: FakeExchangeInit;
  readonly kind?: CallKind;
  /** False: no `MCP-Protocol-Version` was sent. */
  readonly declared?: boolean;
  readonly request_id?: string;
}

export interface Told {
  readonly status: number;
  readonly body: Json;
  readonly answer: FakeAnswer;
}

/** A hosted server without a listener. */
export interface Hosting {
  readonly runtime: HostedRuntime;
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly hidden: HiddenCall[];
  readonly listed: string[];
  /** Sends a request as the listener would; the exchange tells what came of it. */
  send(method: string, params?: object, init?: AskInit): FakeExchange;
  /** The same, and waits for the whole answer. */
  ask(method: string, params?: object, init?: AskInit): Promise<Told>;
  close(): Promise<void>;
}

export function hosting(
  definition: Partial<ServerDefinition>,
  options: Partial<ExecutorOptions> = {},
  state_keys: readonly string[] = [],
): Hosting {
  const clock = makeClock();
  const log = makeLog();
  const hidden: HiddenCall[] = [];
  const listed: string[] = [];
  const runtime = createHosted(
    { name: 'hosted', server: defineServer({ name: 'test', version: '1', ...definition }), state_keys },
    {
      log,
      clock,
      telemetry: { toolsListed: (_route, names) => void listed.push(...names) },
      executor: createExecutor({ clock, ...options }),
      hidden: (call) => void hidden.push(call),
    },
  );
  void runtime.start(new AbortController().signal);
  let count = 0;
  const send: Hosting['send'] = (method, params = {}, init = {}) => {
    const exchange = createFakeExchange(init.exchange);
    runtime.handle(makeCall(method, params, { request_id: `request-${++count}`, ...init }), exchange);
    return exchange;
  };
  return {
    runtime,
    clock,
    log,
    hidden,
    listed,
    send,
    async ask(method, params, init) {
      const answer = await send(method, params, init).done;
      const text =
        answer.by === 'events'
          ? (answer.body.toString().trim().split('\n\ndata: ').pop() ?? '').replace(/^[\s\S]*data: /, '')
          : answer.body.toString();
      return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), answer };
    },
    close: () => runtime.close(0),
  };
}

/** The messages of the events that an exchange has written. */
export function messages(exchange: FakeExchange): Json[] {
  return exchange.writes.map((event) => JSON.parse(/^event: message\ndata: (.*)\n\n$/s.exec(event)?.[1] ?? 'null'));
}

/** A call as the pipeline hands it to a runtime. */
export function makeCall(method: string, given: object, init: AskInit = {}): Call {
  const { revision = '2026-07-28', id = '1', identity, headers = {}, kind = 'request' } = init;
  const era = revision === '2026-07-28' ? 'modern' : 'legacy';
  const meta = {
    ...(era === 'modern'
      ? {
          'io.modelcontextprotocol/protocolVersion': revision,
          'io.modelcontextprotocol/clientCapabilities': init.capabilities ?? {},
        }
      : {}),
    ...init.meta,
  };
  const params: Json = { ...given, _meta: meta };
  const field = subjectField(method);
  const token = params._meta.progressToken;
  const body = kind === 'response' ? given : { jsonrpc: '2.0', method, params };
  return {
    kind,
    era,
    revision,
    method,
    name: field === undefined ? undefined : params[field],
    id: kind === 'notification' ? undefined : id,
    progress_token: token === undefined ? undefined : JSON.stringify(token),
    body: Buffer.from(JSON.stringify(body).replace('{', `{"id":${id},`)),
    route: { path: '/mcp', url: 'http://127.0.0.1/mcp', runtime: 'hosted' },
    head: makeHead({
      id: init.request_id ?? 'request',
      headers,
      claims: { era, revision, declared: init.declared ?? true, method, name: undefined },
    }),
    identity,
    facts: {},
  };
}
