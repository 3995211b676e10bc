// A transport of one's own: MCP over TCP, one JSON message a line. A program uses it by `connect({ transport })`, a gateway by
// runtimes: { far: { kind: transport, module: file:./transport-tcp.js, options: { port: 7000 } } }
import { createConnection, type Socket } from 'node:net';
import type {
  RawMessage,
  Transport,
  TransportModule,
  TransportOptions,
  TransportOutcome,
  TransportState,
  WireMessage,
} from 'portcullis/client';

const MAX_BYTES = 8_000_000;
const DONE: TransportOutcome<void> = { ok: true, value: undefined };

class TcpTransport implements Transport {
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  start({ receive, closed }: TransportOptions): Promise<void> {
    const socket = createConnection({ host: '127.0.0.1', port: this.#port });
    this.#socket = socket;
    socket.on('data', receive);
    socket.on('close', () => closed({ code: 'ENDED', message: 'the server closed the connection' }));
    return new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
  }

  sendMessage(message: string): Promise<TransportOutcome<void>> {
    const socket = this.#socket;
    if (socket === undefined || !socket.writable)
      return Promise.resolve({ ok: false, fault: { code: 'CLOSED', message: 'not connected' } });
    return new Promise((resolve) =>
      socket.write(`${message}\n`, (error) => resolve(error ? { ok: false, fault: { code: 'ENDED', message: error.message } } : DONE)),
    );
  }

  shutdown(): Promise<TransportOutcome<void>> {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined || socket.destroyed) return Promise.resolve(DONE);
    return new Promise((resolve) => {
      socket.once('close', () => resolve(DONE));
      socket.end();
    });
  }

  supportedProtocolVersions(): 'all' {
    return 'all';
  }

  // What the pure callbacks keep: the bytes of the line that has not ended.
  init(): TransportOutcome<TransportState> {
    return { ok: true, value: Buffer.alloc(0) };
  }

  parse(raw: RawMessage, state: TransportState): TransportOutcome<readonly [readonly WireMessage[], TransportState]> {
    const bytes = Buffer.concat([state as Buffer, raw as Buffer]);
    const end = bytes.lastIndexOf('\n');
    const rest = bytes.subarray(end + 1);
    if (rest.length > MAX_BYTES) return { ok: false, fault: { code: 'TOO_LARGE', message: `a line has more than ${MAX_BYTES} bytes` } };
    const lines = bytes
      .subarray(0, end + 1)
      .toString('utf8')
      .split('\n');
    return { ok: true, value: [lines.filter((line) => line !== '').map((line) => JSON.parse(line) as WireMessage), rest] };
  }
}

export const transport: TransportModule = {
  name: 'tcp',
  contract: 1,
  options: { type: 'object', properties: { port: { type: 'integer', minimum: 1, maximum: 65_535 } }, required: ['port'] },
  open: ({ port }) => new TcpTransport(port as number),
};
