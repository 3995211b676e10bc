import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeaderView } from '../contract/head.js';
import type { HttpResponse, HttpStream } from '../contract/http.js';
import type { Server } from '../contract/server.js';
import { GatheredBytes } from '../wire/bytes.js';
import { ChunkMeter } from '../wire/chunk-meter.js';
import { ID_WINDOW_BYTES, requestIdOf } from '../wire/request-id.js';
import type { MountCaller } from './caller.js';
import { withKeepAlive } from './keep-alive.js';
import { Mount, refusal } from './mount.js';
import type { MountOptions, MountSettings } from './options.js';

export type { MountAuth, MountCaller } from './caller.js';
export type { MountOptions } from './options.js';

/** A request of node:http, Connect or Express, with what the host's authentication put on it. */
export type NodeRequest = IncomingMessage & MountCaller & { readonly body?: unknown };

/** What `createNodeMount` makes: a handler, and its end. */
export interface NodeMount {
  /** Answers one request; the body must be unread. `headers` go with every answer. */
  (request: NodeRequest, response: ServerResponse, headers?: unknown): void;
  /** Completes subscriptions, lets calls finish and cancels the rest after `drain_timeout_ms`; whatever comes later is 503. */
  close(deadline_ms?: number): Promise<void>;
}

/**
 * A server of ours as a handler `(request, response)` for node:http, Connect and Express. Which path it has, TLS, authentication
 * and the limits of connection and head are the host's. Throws TypeError when the server was not made by `defineServer`.
 */
export function createNodeMount(server: Server, options: MountOptions = {}): NodeMount {
  const mount = new Mount(server, options);
  const streams = new Set<Promise<void>>();
  // Express calls a handler with `next` in the third place.
  const handler = (request: NodeRequest, response: ServerResponse, extra?: unknown): void => {
    const headers = typeof extra === 'object' && extra !== null ? (extra as Record<string, string>) : {};
    answer(mount, streams, request, response, headers).catch(() => response.destroy());
  };
  return Object.assign(handler, {
    async close(deadline_ms?: number) {
      await mount.close(deadline_ms);
      // The last bytes of the stream are still on their way to the response.
      await Promise.allSettled(streams);
    },
  });
}

type Extra = Readonly<Record<string, string | number | readonly string[] | undefined>>;

async function answer(
  mount: Mount,
  streams: Set<Promise<void>>,
  request: NodeRequest,
  response: ServerResponse,
  extra: Extra,
): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  response.on('error', () => left.abort());
  const unframed = request.httpVersionMajor > 1 ? 'host' : request.httpVersion === '1.0' ? 'old' : 'none';
  const refused = mount.judge(request.method ?? '', viewOf(request), unframed);
  if (refused !== undefined) {
    const start = refused.status === 413 && mount.knows(request) ? await readNodeBody(request, mount.idSettings) : undefined;
    if (start === undefined) return refuse(response, refused, extra);
    return refuse(response, refusal('BODY_TOO_LARGE', 'code' in start ? start.id : requestIdOf(start)), extra);
  }
  if (request.body !== undefined || request.readableDidRead) {
    mount.settings.log.error({}, 'the body was read before the mount: keep parsers away from its path');
    return refuse(response, refusal('RUNTIME_FAILED'), extra);
  }
  const body = await readNodeBody(request, mount.settings);
  if (body === undefined) return;
  if ('code' in body) return refuse(response, refusal(body.code, body.id), extra);
  const found = await mount.serve(request.headersDistinct, body, request, left.signal);
  if (response.destroyed) return;
  if (found.kind === 'response') return send(response, found, extra);
  const stream = pump(mount, response, found, extra);
  streams.add(stream);
  await stream.finally(() => streams.delete(stream));
}

/** What comes after a refusal before the body is not read: the connection ends. */
function refuse(response: ServerResponse, found: HttpResponse, extra: Extra): void {
  send(response, found, { ...extra, connection: 'close' });
}

function send(response: ServerResponse, { status, headers, body }: HttpResponse, extra: Extra): void {
  response.writeHead(status, fields(extra, headers)).end(body);
}

async function pump(mount: Mount, response: ServerResponse, { status, headers, chunks }: HttpStream, extra: Extra): Promise<void> {
  const { clock, sse_keepalive_ms, write_timeout_ms } = mount.settings;
  response.writeHead(status, fields(extra, headers)).flushHeaders();
  for await (const chunk of withKeepAlive(chunks, clock, sse_keepalive_ms)) {
    if (response.destroyed) return;
    if (response.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const timer = clock.timer(write_timeout_ms, () => response.destroy());
      const done = (): void => {
        timer.cancel();
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }
  response.end();
}

function fields(extra: Extra, own: Readonly<Record<string, string>>): Record<string, string | number | string[]> {
  const all: Record<string, string | number | string[]> = {};
  for (const [name, value] of Object.entries({ ...extra, ...own }))
    if (value !== undefined) all[name] = typeof value === 'object' ? [...value] : value;
  return all;
}

function viewOf({ headersDistinct, rawHeaders }: IncomingMessage): HeaderView {
  const all = (name: string): readonly string[] => headersDistinct[name] ?? [];
  return { get: (name) => (all(name).length === 1 ? all(name)[0] : undefined), all, raw: rawHeaders };
}

/**
 * Reads a body. BODY_TIMEOUT: it was not whole within `body_timeout_ms`, or paused for `read_timeout_ms`. BODY_TOO_LARGE: more
 * than `max_body_bytes` came. CHUNKS_TOO_SMALL: as `ChunkMeter` says. Undefined: the client left.
 */
function readNodeBody(
  request: IncomingMessage,
  { clock, body_timeout_ms, read_timeout_ms, max_body_bytes }: MountSettings,
): Promise<Buffer | UnreadBody | undefined> {
  return new Promise((resolve) => {
    const gathered = new GatheredBytes();
    const meter = request.headers['transfer-encoding'] === undefined ? undefined : new ChunkMeter(undefined, request.readableLength);
    const late = () => done('BODY_TIMEOUT');
    const whole = clock.timer(body_timeout_ms, late);
    let pause = clock.timer(read_timeout_ms, late);
    const take = (chunk: Buffer): void => {
      gathered.append(chunk);
      if (gathered.length > max_body_bytes) return done('BODY_TOO_LARGE');
      if (meter?.add(chunk.length, request.socket.bytesRead) === true) return done('CHUNKS_TOO_SMALL');
      pause.cancel();
      pause = clock.timer(read_timeout_ms, late);
    };
    const end = () => done(meter?.end() === true ? 'CHUNKS_TOO_SMALL' : gathered.take());
    const gone = () => done(undefined);
    function done(result: Buffer | UnreadBody['code'] | undefined): void {
      whole.cancel();
      pause.cancel();
      request.off('data', take).off('end', end).off('close', gone);
      if (typeof result !== 'string') return resolve(result);
      request.pause();
      resolve({ code: result, id: requestIdOf(gathered.start(ID_WINDOW_BYTES)) });
    }
    request.on('data', take).on('end', end).on('close', gone).on('error', gone);
  });
}

/** Why a body was not read in full, and the id of its request if it had arrived. */
export interface UnreadBody {
  readonly code: 'BODY_TIMEOUT' | 'BODY_TOO_LARGE' | 'CHUNKS_TOO_SMALL';
  readonly id: string | undefined;
}
