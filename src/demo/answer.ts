import type { ServerResponse } from 'node:http';
import type { Clock } from '../contract/clock.js';
import type { Admitted } from './admit.js';
import { LEGACY, MODERN } from './admit.js';
import { CAPABILITIES, type DemoContext, DemoFault, INSTRUCTIONS, isObject, METHODS, SERVER } from './features.js';

export type DemoCall = Extract<Admitted, { readonly kind: 'call' }>;

/** Answers one call: JSON, or an event stream from the first progress on. Ends without an answer when the client has left. */
export async function answer(call: DemoCall, header: DemoContext['header'], response: ServerResponse, clock: Clock): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const token = isObject(call.params._meta) ? call.params._meta.progressToken : undefined;
  const context: DemoContext = {
    modern: call.modern,
    header,
    wait: (delay_ms) => wait(clock, delay_ms, gone.signal),
    progress(progress, total, message) {
      if (typeof token !== 'string' && typeof token !== 'number') return;
      sendEvent(response, { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, total, message } });
    },
  };
  try {
    const result = await resultOf(call, context);
    sendLast(response, 200, { jsonrpc: '2.0', id: call.id, result });
  } catch (error) {
    if (gone.signal.aborted) return;
    const fault = error instanceof DemoFault ? error : new DemoFault(-32603, 'The demo server failed.');
    const status = call.modern && fault.code === -32601 ? 404 : 200;
    const { code, message, data } = fault;
    sendLast(response, status, { jsonrpc: '2.0', id: call.id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }
}

async function resultOf(call: DemoCall, context: DemoContext): Promise<object> {
  const handshake = handshakeOf(call);
  if (handshake !== undefined) return handshake;
  const handler = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
  if (handler === undefined) throw new DemoFault(-32601, 'Method not found.');
  const result = await handler(call.params, context);
  return call.modern ? toModern(result) : toLegacy(result);
}

/** `server/discover` of the modern era; `initialize` and `ping` of the legacy ones. */
function handshakeOf({ modern, method, params }: DemoCall): object | undefined {
  if (modern && method === 'server/discover')
    return toModern({
      supportedVersions: [MODERN, ...LEGACY],
      capabilities: { ...CAPABILITIES, resources: { subscribe: true } },
      instructions: INSTRUCTIONS,
      ttlMs: 3_600_000,
      cacheScope: 'public',
    });
  if (modern) return undefined;
  if (method === 'ping') return {};
  if (method !== 'initialize') return undefined;
  const asked = params.protocolVersion;
  const protocolVersion = typeof asked === 'string' && LEGACY.includes(asked) ? asked : LEGACY[0];
  return { protocolVersion, capabilities: CAPABILITIES, serverInfo: SERVER, instructions: INSTRUCTIONS };
}

/** A result of the modern era says what it is and who made it. */
export function toModern(result: object, meta: object = {}): object {
  return { resultType: 'complete', ...result, _meta: { 'io.modelcontextprotocol/serverInfo': SERVER, ...meta } };
}

function toLegacy(result: object): object {
  const { ttlMs: _ttl, cacheScope: _scope, ...rest } = result as Readonly<Record<string, unknown>>;
  return rest;
}

/** Writes one event; the first one begins the stream. */
export function sendEvent(response: ServerResponse, message: object): void {
  if (response.destroyed) return;
  if (!response.headersSent)
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

/** Writes the final message: as an event if a stream has begun, else as JSON. */
export function sendLast(response: ServerResponse, status: number, message: object): void {
  if (response.headersSent) {
    sendEvent(response, message);
    response.end();
    return;
  }
  const body = JSON.stringify(message);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}

function wait(clock: Clock, delay_ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.cancel();
      reject(new Error('the client has left'));
    };
    const timer = clock.timer(delay_ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
