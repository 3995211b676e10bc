import { demoDefinition } from '../../src/demo/definition.js';
import { defineServer } from '../../src/server.js';
import { makeClock, type TestClock } from '../../src/testing/clock.js';
import { type HostedHttp, servingHosted } from '../support/hosted-http.js';

/** Parsed JSON, unchecked: assertions are its check. */
export type Json = ReturnType<typeof JSON.parse>;

export interface DemoAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** Runs a test against the demo server behind a listener; the test moves the server's time. */
export async function withDemo(run: (url: string, clock: TestClock, demo: HostedHttp) => Promise<void>): Promise<void> {
  const clock = makeClock();
  const demo = await servingHosted(defineServer(demoDefinition(clock)), clock, {
    limits: { request_timeout_ms: 5_000, max_body_bytes: 1_000_000 },
  });
  try {
    await run(demo.url, clock, demo);
  } finally {
    await demo.close();
  }
}

export function modernHead(method: string, name?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  };
}

export const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };

export function modernBody(method: string, params: object = {}, meta: object = {}, id: string | number = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...meta } } });
}

export async function post(url: string, body: string, headers: Record<string, string>): Promise<DemoAnswer> {
  const response = await fetch(url, { method: 'POST', body, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** A modern call with the headers that match it. */
export function modern(url: string, method: string, params: Record<string, unknown> = {}): Promise<DemoAnswer> {
  const name = (params.uri ?? params.name) as string | undefined;
  return post(url, modernBody(method, params), modernHead(method, name));
}

/** A legacy call. */
export function legacy(url: string, method: string, params: object = {}, version = '2025-11-25'): Promise<DemoAnswer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': version };
  return post(url, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }), headers);
}

/** Reads the messages of an event stream as they come. */
export async function* events(response: Response): AsyncGenerator<Json> {
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    // A keep-alive comment is no event.
    for (const block of blocks) if (!block.startsWith(':')) yield JSON.parse(block.split('\ndata: ')[1] ?? '');
  }
}

/** Every message of an event stream. */
export async function allEvents(response: Response): Promise<Json[]> {
  const all: Json[] = [];
  for await (const event of events(response)) all.push(event);
  return all;
}

/** Moves the clock until a promise is settled. */
export async function advancing<T>(clock: TestClock, step_ms: number, waited: Promise<T>): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  waited.then(settle, settle);
  while (!settled) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    clock.advance(step_ms);
  }
  return waited;
}
