import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { LISTEN_EVENT, listenRequest } from './messages.js';
import type { Load } from './parts/load.js';
import { residentKib } from './parts/usage.js';
import type { Amounts } from './requests.js';
import { openPortcullis } from './rows/portcullis.js';
import type { Ground } from './rows/row.js';

export interface StreamCost {
  readonly streams: number;
  readonly before_kib: number;
  readonly after_kib: number;
  readonly kib_per_stream: number;
}

/** What an open, idle subscription through the guarded gateway holds resident, beyond what the process held after its warm-up. */
export async function measureStreams(ground: Ground, load: Load, streams: number, amounts: Amounts): Promise<StreamCost> {
  const { port, child } = await openPortcullis(ground, 'streams', true, streams);
  const sockets: Socket[] = [];
  try {
    await load.warmUp(port, amounts.warm_up, amounts.warm_up_most_s);
    const before_kib = await settled(child.pid);
    const request = listenRequest(ground.issued.token);
    while (sockets.length < streams) {
      const batch = Array.from({ length: Math.min(100, streams - sockets.length) }, () => openStream(port, request));
      sockets.push(...(await Promise.all(batch)));
    }
    const after_kib = await settled(child.pid);
    const lost = sockets.filter((socket) => socket.destroyed || socket.readableEnded).length;
    if (lost > 0) throw new Error(`${lost} of ${streams} streams did not stay open`);
    return { streams, before_kib, after_kib, kib_per_stream: (after_kib - before_kib) / streams };
  } finally {
    for (const socket of sockets) socket.destroy();
    await child.close();
  }
}

/** Resolves once the first event is there. */
async function openStream(port: number, request: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(request);
  let text = '';
  while (!text.includes(EVENT_DATA)) {
    const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(30_000) })) as [Buffer];
    text += chunk.toString('latin1');
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(`a stream was refused: ${text.slice(0, 200)}`);
  }
  socket.on('data', () => undefined);
  return socket;
}

const EVENT_DATA = LISTEN_EVENT.slice(LISTEN_EVENT.indexOf('data: '), -2);

/** Resident memory two seconds later. */
async function settled(pid: number): Promise<number> {
  await wait(2000);
  return residentKib(pid);
}
