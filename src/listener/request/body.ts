import { IncomingMessage } from 'node:http';
import { GatheredBytes } from '../../wire/bytes.js';
import { ChunkMeter } from '../../wire/chunk-meter.js';
import { ID_WINDOW_BYTES, requestIdOf } from '../../wire/request-id.js';

const SMALL_BYTES = 512;
const QUEUE_BYTES = 1024;

/**
 * Reads a body of at most `max_bytes` into one buffer and calls `done` once, with undefined as soon as more came. A body that came in one
 * piece is handed on without a copy. A client that leaves ends the reading without a call: the connection's close says so. Returns what
 * gives the id of the request as far as its body has come, until `done` has returned.
 */
export function readBody(request: IncomingMessage, max_bytes: number, done: (body: Buffer | undefined) => void): () => string | undefined {
  let first: Buffer | undefined;
  let more: GatheredBytes | undefined;
  let size = 0;
  let over = false;
  const hold = (chunk: Buffer): void => {
    if (first === undefined) {
      first = chunk;
      return;
    }
    if (more === undefined) {
      more = new GatheredBytes();
      more.append(first);
    }
    more.append(chunk);
  };
  request.on('data', (chunk: Buffer) => {
    if (over) return;
    size += chunk.length;
    hold(chunk);
    if (size <= max_bytes) return;
    over = true;
    done(undefined);
    first = more = undefined;
  });
  request.on('end', () => {
    if (!over) done(more?.take() ?? first ?? EMPTY);
  });
  return () => requestIdOf(more?.start(ID_WINDOW_BYTES) ?? first ?? EMPTY);
}

const EMPTY = Buffer.alloc(0);

/**
 * A request whose body waits in few pieces. Node queues each piece that the network or the client's chunks cut, at a cost of hundreds of bytes even for
 * a single one, while a gate decides or a slow upstream reads; here small pieces behind a full kilobyte are joined. A body that is read as it comes
 * passes untouched.
 */
export class ArrivingRequest extends IncomingMessage {
  #meter: ChunkMeter | undefined;
  #tiny = false;
  #refuse: (() => void) | undefined;
  #joined: GatheredBytes | undefined;
  /** The reader waits for the next piece: it asks once and must be given one before it asks again. */
  #asked = false;

  /** The body is chunked and begins where the connection has read `began` bytes. */
  meterChunks(began: number): void {
    this.#meter = new ChunkMeter(began);
  }

  /** `refuse` runs once, now or later, when the chunks are too small (`ChunkMeter`). */
  onTinyChunks(refuse: () => void): void {
    if (this.#tiny) refuse();
    else this.#refuse = refuse;
  }

  /** Called by Node's parser for each piece, with null at the end. False: read no more for now. */
  override push(piece: Buffer | null): boolean {
    if (this.#meter !== undefined) this.#count(this.#meter, piece);
    if (piece === null) {
      this.#release();
      return super.push(null);
    }
    if (this.#asked || (this.#joined === undefined && (piece.length >= SMALL_BYTES || this.readableLength < QUEUE_BYTES))) {
      this.#asked = false;
      return super.push(piece);
    }
    this.#joined ??= new GatheredBytes();
    this.#joined.append(piece);
    return this.readableLength + this.#joined.length < this.readableHighWaterMark;
  }

  override _read(size: number): void {
    if (this.#release()) return;
    this.#asked = true;
    super._read(size);
  }

  #release(): boolean {
    const joined = this.#joined;
    this.#joined = undefined;
    if (joined === undefined) return false;
    super.push(joined.take());
    return true;
  }

  #count(meter: ChunkMeter, piece: Buffer | null): void {
    if (this.#tiny || !(piece === null ? meter.end() : meter.add(piece.length, this.socket.bytesRead))) return;
    this.#tiny = true;
    this.#refuse?.();
  }
}
