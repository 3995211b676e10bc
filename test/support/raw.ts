import { connect, type Socket } from 'node:net';

/** What a raw exchange came to. */
export interface RawAnswer {
  /** Status codes of all final responses seen, in order. */
  readonly statuses: readonly number[];
  readonly text: string;
  /** `closed` by the server (FIN), `reset`, or still `open` at the time limit. */
  readonly end: 'closed' | 'reset' | 'open';
  readonly elapsed_ms: number;
}

/** One thing to do on the socket: send text (latin1) or bytes, or wait. */
export type Step = string | Uint8Array | number;

/**
 * Sends steps over one TCP connection, or what `open` makes of it, and listens until the server closes it or `limit_ms` passed. While no
 * answer has come, that limit is not kept: a busy machine is no silence.
 */
export function rawExchange(
  port: number,
  steps: readonly Step[],
  limit_ms = 2000,
  host = '127.0.0.1',
  open: (port: number, host: string) => Socket = (port, host) => connect({ port, host }),
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const started = performance.now();
    const socket = open(port, host);
    let text = '';
    let over = false;
    const finish = (end: RawAnswer['end']): void => {
      if (over) return;
      over = true;
      clearTimeout(limit);
      socket.destroy();
      resolve({ statuses: statusesOf(text), text, end, elapsed_ms: performance.now() - started });
    };
    const late = (): void => {
      if (statusesOf(text).length > 0 || performance.now() - started > limit_ms + LONG_MS) finish('open');
      else limit = setTimeout(late, 20);
    };
    let limit = setTimeout(late, limit_ms);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('end', () => finish('closed'));
    socket.on('close', () => finish('closed'));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') finish('reset');
    });
    socket.on('connect', () => void play(socket, steps, () => over));
  });
}

/** Sends text over one connection and leaves without an answer, once `begun` says that the server has it. */
export async function sendAndLeave(port: number, text: string, begun: () => Promise<unknown>): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write(text, 'latin1');
  await begun();
  socket.destroy();
}

/** Then no answer comes at all. */
const LONG_MS = 10_000;

async function play(socket: Socket, steps: readonly Step[], over: () => boolean): Promise<void> {
  for (const step of steps) {
    if (over()) return;
    if (typeof step === 'number') await new Promise((resolve) => setTimeout(resolve, step));
    else if (typeof step === 'string') socket.write(step, 'latin1');
    else socket.write(step);
  }
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1])).filter((status) => status >= 200);
}
