/**
 * Notices a chunked body (RFC 9112 section 7.1) that is cut too small: beyond 64 KiB, a mean chunk under 16 bytes.
 *
 * A reader sees pieces, not chunks, and the network cuts one chunk into many pieces. So pieces alone prove nothing; at least as many chunks came as
 * follows from either of two counts: pieces less reads, since each read cuts at most one chunk; and framing, which costs 5 or 6 bytes for a chunk of
 * at most 255. An honest body is never refused for how the network delivered it.
 */
export class ChunkMeter {
  #began: number | undefined;
  #read = -1;
  #pieces = 0;
  /** Pieces that may continue a chunk. */
  #cuts = 0;
  #size = 0;
  #queued: number;

  /**
   * `began`: how many bytes the connection had read where the body began; undefined: unknown, the first read then counts as without framing.
   * `queued`: bytes of the body that arrived earlier, in an unknown number of reads.
   */
  constructor(began?: number, queued = 0) {
    this.#began = began;
    this.#queued = queued;
  }

  /** Counts one piece; `read` is what the connection has read so far. True when the chunks before this read were too small. */
  add(length: number, read: number): boolean {
    let tiny = false;
    if (read !== this.#read) {
      // What an earlier read brought has been parsed in full by now: its framing can be told from its content.
      tiny = this.#isTiny();
      if (this.#size > 0) this.#began ??= this.#read - this.#size;
      this.#read = read;
      this.#cuts++;
    } else if (this.#size < this.#queued) this.#cuts++;
    this.#pieces++;
    this.#size += length;
    return tiny;
  }

  /** The body is whole: true when its chunks were too small. */
  end(): boolean {
    return this.#isTiny();
  }

  #isTiny(): boolean {
    if (this.#size <= FREE_BYTES) return false;
    const framing = this.#read - (this.#began ?? this.#read) - this.#size;
    const chunks = Math.max(this.#pieces - this.#cuts, Math.min(this.#pieces, framing / 6));
    return chunks * LEAST_MEAN_BYTES > this.#size + SLACK_BYTES;
  }
}

const FREE_BYTES = 65_536;
const LEAST_MEAN_BYTES = 16;
/** A short last chunk and one that is cut in its framing are not held against a body of chunks of exactly the least mean. */
const SLACK_BYTES = 64;
