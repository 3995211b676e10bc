import { connect, createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../support/upstream.js';

/** What a hop changes in the requests that carry a `tools/call`. Everything left out goes through as the client wrote it. */
export interface Edit {
  readonly path?: string;
  /** Replaces the header of this name, or adds it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the JSON-RPC method, in the body and in `Mcp-Method`. */
  readonly method?: string;
  /** Sends the body in chunks instead of with a length. */
  readonly chunked?: boolean;
  /** Sends half of the body and never the rest. */
  readonly half?: boolean;
}

/** A request that met an armed hop, and what came back for it. */
export interface Sighting {
  /** HTTP status, or 0 while there is none. */
  readonly status: number;
  /** The first 16 KiB of the answer, head included. */
  readonly text: string;
}

/**
 * A TCP hop between one client and a gateway. It follows requests far enough to change one, and never touches an answer: the client
 * reads the gateway's bytes, its half-close and its reset. Listens on loopback.
 */
export interface Hop {
  /** The client's base URL, without a trailing slash. */
  readonly port: number;
  /** Where connections made from now on lead. */
  target: number;
  /** Changes every `tools/call` from now on until the next `arm` or `disarm`. */
  arm(edit: Edit): void;
  /** Returns what came of the requests since `arm`. */
  disarm(): readonly Sighting[];
  /** Requests since `arm` that it met. */
  readonly met_count: number;
  close(): Promise<void>;
}

export async function startHop(target: number): Promise<Hop> {
  const state = { edit: undefined as Edit | undefined, seen: [] as { status: number; text: string }[] };
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    const gateway = connect({ host: '127.0.0.1', port: hop.target, allowHalfOpen: true });
    for (const socket of [client, gateway]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    join(client, gateway, state);
  });
  const port = await listen(server);
  const hop: Hop = {
    port,
    target,
    arm(edit) {
      state.edit = edit;
      state.seen = [];
    },
    disarm() {
      const { seen } = state;
      state.edit = undefined;
      state.seen = [];
      return seen;
    },
    get met_count() {
      return state.seen.length;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return hop;
}

interface State {
  readonly edit: Edit | undefined;
  readonly seen: { status: number; text: string }[];
}

function join(client: Socket, gateway: Socket, state: State): void {
  let sighting: { status: number; text: string } | undefined;
  gateway.on('data', (data) => {
    if (sighting !== undefined && sighting.text.length < 16_384) {
      sighting.text += data.toString('latin1');
      sighting.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(sighting.text)?.[1] ?? 0);
    }
    client.write(data);
  });
  gateway.on('end', () => client.end());
  gateway.on('close', () => client.destroySoon());
  client.on('close', () => gateway.destroy());
  for (const socket of [client, gateway]) socket.on('error', () => socket.destroy());

  let pending: Buffer = Buffer.alloc(0);
  let left = 0;
  let blind = false;
  client.on('end', () => gateway.end());
  client.on('data', (data) => {
    pending = Buffer.concat([pending, data]);
    while (pending.length > 0) {
      if (blind || left > 0) {
        const part = blind ? pending : pending.subarray(0, left);
        left -= part.length;
        pending = pending.subarray(part.length);
        gateway.write(part);
        continue;
      }
      const end = pending.indexOf('\r\n\r\n') + 4;
      if (end < 4) return;
      const head = pending.toString('latin1', 0, end);
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      const { edit } = state;
      sighting = undefined;
      // A body with a length is held back only while it may be one to change.
      if (edit !== undefined && head.startsWith('POST ') && length > 0) {
        if (!isChange(edit) && length > 65_536) {
          state.seen.push((sighting = { status: 0, text: '' }));
        } else {
          if (pending.length < end + length) return;
          const body = pending.toString('utf8', end, end + length);
          if (/"method": ?"tools\/call"/.test(body)) {
            state.seen.push((sighting = { status: 0, text: '' }));
            pending = pending.subarray(end + length);
            gateway.write(changed(head, body, edit));
            continue;
          }
        }
      }
      blind = /^transfer-encoding:/im.test(head);
      left = length;
      pending = pending.subarray(end);
      gateway.write(head, 'latin1');
    }
  });
}

const isChange = (edit: Edit): boolean => Object.keys(edit).length > 0;

function changed(head: string, body: string, edit: Edit): Buffer {
  let text = edit.path === undefined ? head : head.replace(/^POST \S+/, `POST ${edit.path}`);
  const set = (name: string, value: string | undefined): void => {
    text = text.replace(new RegExp(`^${name}:.*\r\n`, 'gim'), '');
    if (value !== undefined) text = text.replace('\r\n', `\r\n${name}: ${value}\r\n`);
  };
  for (const [name, value] of Object.entries(edit.headers ?? {})) set(name, value);
  let sent = body;
  if (edit.method !== undefined) {
    sent = body.replace(/"method": ?"tools\/call"/, `"method":"${edit.method}"`);
    if (/^mcp-method:/im.test(text)) set('mcp-method', edit.method);
    set('mcp-name', undefined);
  }
  const bytes = Buffer.from(sent);
  if (edit.chunked !== true) {
    set('content-length', String(bytes.length));
    return Buffer.concat([Buffer.from(text, 'latin1'), edit.half === true ? bytes.subarray(0, bytes.length >> 1) : bytes]);
  }
  set('content-length', undefined);
  set('transfer-encoding', 'chunked');
  const parts = [Buffer.from(text, 'latin1')];
  for (let at = 0; at < bytes.length; at += 16_384) {
    const part = bytes.subarray(at, at + 16_384);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  parts.push(Buffer.from('0\r\n\r\n'));
  return Buffer.concat(parts);
}
