import { IncomingMessage } from 'node:http';
import { GatheredBytes } from '../../wire/bytes.js';
import { ChunkMeter } from '../../wire/chunk-meter.js';

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

const SMALL_BYTES = 512;
const QUEUE_BYTES = 1024;
