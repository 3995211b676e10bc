import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { ArrivingRequest } from '../../../src/listener/request/body.js';

/** Plays Node's parser: pieces are pushed until the request says enough, and again once it lets the socket go on. */
class Parser {
  readonly request: ArrivingRequest;
  bytesRead = 0;
  readonly readable = true;
  readonly destroyed = true;
  readonly readableHighWaterMark = 16_384;
  stopped = false;
  readonly #pieces: (Buffer | null)[];

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = [...pieces, null];
    this.request = new ArrivingRequest(this as unknown as Socket);
  }

  /** What Node calls to let the socket go on. */
  resume(): void {
    this.stopped = false;
  }

  get done(): boolean {
    return this.#pieces.length === 0;
  }

  /** One read of the socket that holds this many pieces. */
  read(count: number): void {
    if (this.stopped) return;
    this.bytesRead += 1;
    for (let i = 0; i < count && this.#pieces.length > 0; i++) {
      const piece = this.#pieces.shift() as Buffer | null;
      if (piece === null) this.request.complete = true;
      if (!this.request.push(piece)) this.stopped = true;
    }
  }
}

function piecesOf(sizes: readonly number[]): Buffer[] {
  let at = 0;
  return sizes.map((size) => Buffer.from(Array.from({ length: size }, () => at++ % 251)));
}

const SIZES = fc.array(fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 2000 })), { minLength: 1, maxLength: 200 });
const READS = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });

describe('a request whose body arrives in pieces', () => {
  it('gives the same bytes and ends, however it is cut, read and paused', async () => {
    await fc.assert(
      fc.asyncProperty(SIZES, READS, fc.integer({ min: 0, max: 20 }), fc.boolean(), async (sizes, reads, wait, pauses) => {
        const pieces = piecesOf(sizes);
        const parser = new Parser(pieces);
        const { request } = parser;
        const got: Buffer[] = [];
        let ended = false;
        for (let i = 0; i < 2000 && !ended; i++) {
          parser.read(reads[i % reads.length] as number);
          if (i === wait) {
            request.on('data', (piece: Buffer) => {
              got.push(piece);
              if (!pauses || got.length % 3 !== 0) return;
              request.pause();
              setImmediate(() => request.resume());
            });
            request.on('end', () => (ended = true));
          }
          await turn();
        }
        assert.deepEqual([ended, parser.done], [true, true]);
        assert.deepEqual(Buffer.concat(got), Buffer.concat(pieces));
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same bytes to a reader that asks for each piece', async () => {
    await fc.assert(
      fc.asyncProperty(SIZES, READS, async (sizes, reads) => {
        const pieces = piecesOf(sizes);
        const parser = new Parser(pieces);
        const got: Buffer[] = [];
        const reading = (async () => {
          for await (const piece of parser.request) got.push(piece as Buffer);
        })();
        for (let i = 0; i < 2000 && !parser.done; i++) {
          parser.read(reads[i % reads.length] as number);
          await turn();
        }
        await reading;
        assert.deepEqual(Buffer.concat(got), Buffer.concat(pieces));
      }),
      { numRuns: 30 },
    );
  });

  it('waits in few pieces while nobody reads, and stops the socket at the high-water mark', async () => {
    const parser = new Parser(piecesOf(Array.from({ length: 60_000 }, () => 1)));
    for (let i = 0; i < 1000 && !parser.stopped; i++) {
      parser.read(100);
      await turn();
    }
    assert.equal(parser.stopped, true);
    assert.ok(parser.request.readableLength <= 2048, `${parser.request.readableLength} pieces wait one by one`);
    let largest = 0;
    let size = 0;
    let ended = false;
    parser.request.on('data', (piece: Buffer) => {
      size += piece.length;
      largest = Math.max(largest, piece.length);
    });
    parser.request.on('end', () => (ended = true));
    for (let i = 0; i < 5000 && !ended; i++) {
      parser.read(100);
      await turn();
    }
    assert.deepEqual([ended, size], [true, 60_000]);
    assert.ok(largest > 10_000, `${largest}`);
  });

  it('says once that chunks are too small, also to one that asks later', () => {
    for (const early of [true, false]) {
      const parser = new Parser(piecesOf(Array.from({ length: 80_000 }, () => 1)));
      const said: string[] = [];
      parser.request.meterChunks(0);
      if (early) parser.request.onTinyChunks(() => said.push('tiny'));
      for (let i = 0; i < 100; i++) {
        parser.stopped = false;
        parser.read(10_000);
        parser.bytesRead += 60_000;
      }
      if (!early) parser.request.onTinyChunks(() => said.push('tiny'));
      assert.deepEqual(said, ['tiny']);
    }
  });
});
