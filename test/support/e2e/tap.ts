import { createServer, type IncomingHttpHeaders, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import { closeServer, listen } from '../upstream.js';

/** One request as it went by. */
export interface TappedRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The body so far. */
  body: string;
  /** The answer's status; undefined until it came. */
  status: number | undefined;
  answer_headers: IncomingHttpHeaders;
  /** True once the asking side left before the answer was complete. */
  aborted: boolean;
}

/** A relay that records what goes to a server and changes nothing: it shows what the gateway sends and when it hangs up. */
export interface Tap {
  /** The same path as the target's. */
  readonly url: string;
  readonly seen: readonly TappedRequest[];
  close(): Promise<void>;
}

export async function startTap(target: string): Promise<Tap> {
  const seen: TappedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const { method = '', headers } = request;
    const entry: TappedRequest = { method, headers, body: '', status: undefined, answer_headers: {}, aborted: false };
    seen.push(entry);
    request.on('data', (chunk: Buffer) => void (entry.body += chunk.toString('latin1')));
    const onward = sendRequest(target, { method, headers: { ...headers, host: new URL(target).host } }, (answer) => {
      entry.status = answer.statusCode;
      entry.answer_headers = answer.headers;
      response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => {
      if (response.writableFinished) return;
      entry.aborted = true;
      onward.destroy();
    });
    request.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  const { pathname } = new URL(target);
  return { url: `http://127.0.0.1:${port}${pathname}`, seen, close: () => closeServer(server, sockets) };
}

/** The JSON-RPC method of a recorded request; empty for a response object or a request without a body. */
export function methodOf({ body }: TappedRequest): string {
  return /"method":"([^"]+)"/.exec(body)?.[1] ?? '';
}
