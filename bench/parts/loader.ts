// The load: a process of its own that sends one request over and over on kept-alive connections, and times each answer.
import { connect, type Socket } from 'node:net';
import { CALL_ANSWER } from '../messages.js';
import { answerEnd } from './answer.js';

/** What the bench asks of the loader. */
export interface LoadOrder {
  readonly port: number;
  readonly request: string;
  readonly connections: number;
  /** Ends after so many requests … */
  readonly count?: number;
  /** … or after so many seconds. */
  readonly seconds?: number;
  /** The body that every answer must have; default: the upstream's. */
  readonly answer?: string;
}

/** What it tells afterwards. Latencies in µs. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50_us: number;
  readonly p99_us: number;
  /** Set when an answer was not the upstream's, or a connection broke. */
  readonly fault?: string;
}

process.on('message', (order: LoadOrder) => void run(order).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit());

function run(order: LoadOrder): Promise<LoadResult> {
  const request = Buffer.from(order.request);
  const answer = Buffer.from(order.answer ?? CALL_ANSWER);
  const most = order.count ?? Number.POSITIVE_INFINITY;
  const until_ms = order.seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + order.seconds * 1000;
  const times: number[] = [];
  const sockets: Socket[] = [];
  let sent = 0;
  return new Promise((resolve) => {
    const started = process.hrtime.bigint();
    const finish = (fault?: string): void => {
      for (const socket of sockets) socket.removeAllListeners().on('error', ignore).destroy();
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      const sorted = Float64Array.from(times).sort();
      const at = (share: number): number => sorted[Math.floor((times.length - 1) * share)] ?? 0;
      resolve({ requests: times.length, seconds, p50_us: at(0.5), p99_us: at(0.99), ...(fault === undefined ? {} : { fault }) });
    };
    for (let i = 0; i < order.connections; i++) {
      const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true });
      sockets.push(socket);
      let sent_at = 0;
      let held: Buffer = EMPTY;
      const next = (): void => {
        if (sent >= most) return;
        sent++;
        sent_at = performance.now();
        socket.write(request);
      };
      socket.on('connect', next);
      socket.on('data', (chunk: Buffer) => {
        held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
        const end = answerEnd(held, order.answer !== undefined);
        if (end === 0) return;
        if (end < 0 || end !== held.length || !held.includes(answer)) return finish(held.toString('latin1'));
        held = EMPTY;
        const now = performance.now();
        times.push((now - sent_at) * 1000);
        if (times.length >= most || now >= until_ms) finish();
        else next();
      });
      socket.on('error', (error) => finish(error.message));
      socket.on('end', () => finish('the proxy closed the connection'));
    }
  });
}

const EMPTY = Buffer.alloc(0);

function ignore(): void {}
