import type { HeaderView } from '../contract/head.js';
import type { HttpResponse } from '../contract/http.js';
import type { Server } from '../contract/server.js';
import { GatheredBytes } from '../wire/bytes.js';
import { ID_WINDOW_BYTES, requestIdOf } from '../wire/request-id.js';
import type { MountCaller } from './caller.js';
import { withKeepAlive } from './keep-alive.js';
import { Mount, refusal } from './mount.js';
import type { UnreadBody } from './node.js';
import type { MountOptions, MountSettings } from './options.js';

export type { MountAuth, MountCaller } from './caller.js';
export type { MountOptions } from './options.js';

/** What `createFetchMount` makes: a handler, and its end. */
export interface FetchMount {
  /** Answers one request, its body unread. The caller is what the host's authentication verified, given here or set on the request. */
  (request: Request & MountCaller, caller?: MountCaller): Promise<Response>;
  /** Completes subscriptions, lets calls finish and cancels the rest after `drain_timeout_ms`; whatever comes later is 503. */
  close(deadline_ms?: number): Promise<void>;
}

/**
 * A server of ours as a handler `(Request) => Promise<Response>` for Hono, Deno and Bun. Which path it has, TLS, authentication and
 * the limits of connection and head are the host's. Throws TypeError when the server was not made by `defineServer`.
 */
export function createFetchMount(server: Server, options: MountOptions = {}): FetchMount {
  const mount = new Mount(server, options);
  const handler: (...asked: Parameters<FetchMount>) => Promise<Response> = async (request, caller = request) => {
    const refused = mount.judge(request.method, viewOf(request.headers), request.body === null ? 'none' : 'host');
    if (refused !== undefined) {
      if (refused.status !== 413 || request.bodyUsed || !mount.knows(caller)) return toResponse(refused);
      const start = await readFetchBody(request.body, mount.idSettings);
      return toResponse(refusal('BODY_TOO_LARGE', 'code' in start ? start.id : requestIdOf(start)));
    }
    if (request.bodyUsed) {
      mount.settings.log.error({}, 'the body was read before the mount');
      return toResponse(refusal('RUNTIME_FAILED'));
    }
    const body = await readFetchBody(request.body, mount.settings);
    if ('code' in body) return toResponse(refusal(body.code, body.id));
    const left = new AbortController();
    const leave = () => left.abort();
    request.signal.addEventListener('abort', leave, { once: true });
    if (request.signal.aborted) leave();
    const found = await mount.serve(Object.fromEntries(request.headers), body, caller, left.signal);
    if (found.kind === 'response') return toResponse(found);
    const { clock, sse_keepalive_ms } = mount.settings;
    const chunks = withKeepAlive(found.chunks, clock, sse_keepalive_ms);
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: leave,
    });
    return new Response(stream, { status: found.status, headers: found.headers });
  };
  return Object.assign(handler, { close: (deadline_ms?: number) => mount.close(deadline_ms) });
}

function toResponse({ status, headers, body }: HttpResponse): Response {
  return new Response(body.length === 0 ? null : Buffer.from(body), { status, headers });
}

function viewOf(headers: Headers): HeaderView {
  const get = (name: string): string | undefined => headers.get(name) ?? undefined;
  const all = (name: string): readonly string[] => {
    const value = get(name);
    return value === undefined ? [] : [value];
  };
  return { get, all, raw: [...headers].flat() };
}

/** Reads a body, as `readNodeBody` does; only the host knows the chunking. A body that breaks off is BODY_TIMEOUT; the client is gone. */
async function readFetchBody(
  body: ReadableStream<Uint8Array> | null,
  { clock, body_timeout_ms, read_timeout_ms, max_body_bytes }: MountSettings,
): Promise<Buffer | UnreadBody> {
  if (body === null) return Buffer.alloc(0);
  const reader = body.getReader();
  const due_ms = clock.mono_ms() + body_timeout_ms;
  const gathered = new GatheredBytes();
  for (;;) {
    const left_ms = Math.max(1, Math.min(due_ms - clock.mono_ms(), read_timeout_ms));
    const got = await new Promise<Awaited<ReturnType<typeof reader.read>> | undefined>((resolve) => {
      const timer = clock.timer(Math.ceil(left_ms), () => resolve(undefined));
      const settle = (value: Awaited<ReturnType<typeof reader.read>> | undefined) => {
        timer.cancel();
        resolve(value);
      };
      reader.read().then(settle, () => settle(undefined));
    });
    if (got?.done === true) return gathered.take();
    if (got !== undefined) gathered.append(got.value);
    const late = got === undefined || clock.mono_ms() >= due_ms;
    if (late || gathered.length > max_body_bytes) {
      reader.cancel().catch(() => undefined);
      return { code: late ? 'BODY_TIMEOUT' : 'BODY_TOO_LARGE', id: requestIdOf(gathered.start(ID_WINDOW_BYTES)) };
    }
  }
}
