import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { makeClock, type TestClock } from '../../src/testing/clock.js';
import type { ResponseHead, UpstreamHandle, UpstreamListener } from '../../src/upstream/exchange.js';
import { UpstreamPool } from '../../src/upstream/pool.js';
import { until } from './e2e/until.js';
import { closeServer, listen } from './upstream.js';

/** Called for each whole request; what it writes is all that the upstream says. `nth` counts on its connection, from 0. */
export type Asked = (socket: Socket, request: string, nth: number) => void;

export interface RawSetup {
  /** Of the pool: with 1, the default, an exchange waits for a connection that rests. */
  readonly connections?: number;
  readonly tls?: TlsOptions;
  readonly ca?: string;
  readonly host?: string;
  readonly accepted?: (socket: Socket) => void;
  readonly connect_timeout_ms?: number;
  readonly connection_max_age_ms?: number;
}

/** A pool toward a server of bare sockets, with a clock that is moved by hand. */
export interface RawUpstream {
  readonly pool: UpstreamPool;
  readonly clock: TestClock;
  readonly port: number;
  /** Every connection that was ever accepted. */
  readonly accepted: readonly Socket[];
  /** Those of them that are open. */
  readonly open: ReadonlySet<Socket>;
  /** Begins an exchange. */
  ask(body?: string | Buffer, hearing?: Hearing): Hearing;
  /** Ends all; asserts that each exchange heard one end, that no socket and no timer is left. */
  close(): Promise<void>;
}

export async function rawUpstream(asked: Asked, setup: RawSetup = {}): Promise<RawUpstream> {
  const accepted: Socket[] = [];
  const open = new Set<Socket>();
  const welcome = (socket: Socket): void => {
    accepted.push(socket);
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    setup.accepted?.(socket);
    readRequests(socket, asked);
  };
  const { tls, host = '127.0.0.1' } = setup;
  const server = tls === undefined ? createServer(welcome) : createTlsServer(tls, welcome);
  server.on('tlsClientError', () => undefined);
  const port = await (host === '::1' ? listenOn(server, host) : listen(server));
  const clock = makeClock();
  const origin = `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const { ca, connect_timeout_ms, connection_max_age_ms = 300_000 } = setup;
  const pool = new UpstreamPool({
    origin,
    connections: setup.connections ?? 1,
    ca,
    connect_timeout_ms,
    connection_max_age_ms,
    clock,
    onConnected: () => undefined,
  });
  const hearings: Hearing[] = [];
  return {
    pool,
    clock,
    port,
    accepted,
    open,
    ask(body, hearing = new Hearing()) {
      hearings.push(hearing);
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      const line = pool.dispatch({ head: `POST /mcp HTTP/1.1\r\nhost: a\r\n`, body: bytes }, hearing);
      hearing.line ??= line;
      return hearing;
    },
    async close() {
      const closed = pool.close(0);
      clock.advance(1);
      await closed;
      await until('no connection is left', () => open.size === 0);
      await closeServer(server, open);
      for (const { ends, errors } of hearings) assert.equal(ends + errors.length, 1, 'ends that an exchange heard');
      assert.equal(clock.pending, 0, 'timers left');
    },
  };
}

/** What one exchange heard. */
export class Hearing implements UpstreamListener {
  head: ResponseHead | undefined;
  readonly pieces: Buffer[] = [];
  readonly errors: Error[] = [];
  ends = 0;
  line: UpstreamHandle | undefined;
  /** `200 body`, or the code of the failure. */
  readonly done: Promise<string>;
  readonly #more: ((chunk: Buffer, hearing: Hearing) => boolean) | undefined;
  #settle: (outcome: string) => void = () => undefined;

  constructor(more?: (chunk: Buffer, hearing: Hearing) => boolean) {
    this.#more = more;
    this.done = new Promise((resolve) => (this.#settle = resolve));
  }

  get body(): Buffer {
    return Buffer.concat(this.pieces);
  }

  abort(): void {
    this.line?.abort(Object.assign(new Error('stopped'), { code: 'ABORTED' }), this);
  }

  resume(): void {
    this.line?.resume(this);
  }

  onConnected(line: UpstreamHandle): void {
    this.line = line;
  }

  onHead(head: ResponseHead): void {
    this.head = head;
  }

  onData(chunk: Buffer): boolean {
    this.pieces.push(chunk);
    return this.#more?.(chunk, this) ?? true;
  }

  onEnd(): void {
    this.ends += 1;
    this.#settle(`${this.head?.status} ${this.body.toString('latin1')}`);
  }

  onError(error: Error): void {
    this.errors.push(error);
    this.#settle((error as { readonly code?: string }).code ?? error.name);
  }
}

/** An answer of known length. */
export function answer(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function readRequests(socket: Socket, asked: Asked): void {
  let text = '';
  let nth = 0;
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (;;) {
      const head = text.indexOf('\r\n\r\n') + 4;
      const whole = head + Number(/content-length: (\d+)/.exec(text.slice(0, head))?.[1] ?? 0);
      if (head < 4 || text.length < whole) return;
      const request = text.slice(0, whole);
      text = text.slice(whole);
      asked(socket, request, nth++);
    }
  });
}

function listenOn(server: ReturnType<typeof createServer>, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => resolve((server.address() as { readonly port: number }).port));
  });
}
