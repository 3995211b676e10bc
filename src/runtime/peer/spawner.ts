import type { Clock } from '../../contract/clock.js';
import { GatewayError } from '../../errors/error.js';
import { retryAfter } from '../../errors/retry-after.js';
import type { PipeEnd, ProcessHandle } from '../../transport/process-handle.js';
import type { RatedLog } from '../../transport/rated-log.js';
import { type JunkReason, Peer } from './peer.js';

const FIRST_MS = 250;
const MAX_MS = 30_000;
const FORGET_MS = 60_000;

export interface SpawnerOptions {
  /** Peers that exist at once, those on their way out included. */
  readonly max_children: number;
  readonly max_pending: number;
}

export interface SpawnerDeps {
  readonly clock: Clock;
  readonly log: RatedLog;
  launch(): ProcessHandle;
  junk(reason: JunkReason): void;
  /** A request of a peer was refused. */
  refused(method: string): void;
  /** A peer ended unexpectedly. */
  ended(end: PipeEnd): void;
}

export interface Started {
  readonly peer: Peer;
  readonly launched: ProcessHandle;
}

/** Starts peers and knows all that exist: their number is bounded, and a command that fails is tried less and less often. */
export class Spawner {
  readonly backoff: Backoff;
  readonly #options: SpawnerOptions;
  readonly #deps: SpawnerDeps;
  readonly #alive = new Set<Started>();
  readonly #excused = new WeakSet<Peer>();

  constructor(options: SpawnerOptions, deps: SpawnerDeps) {
    this.#options = options;
    this.#deps = deps;
    this.backoff = createBackoff(deps.clock);
  }

  /** Every peer that exists, those on their way out included. */
  get alive(): ReadonlySet<Started> {
    return this.#alive;
  }

  /** Starts one. `ended` runs when it ends by itself. An error: none can be started now. */
  start(ended: (end: PipeEnd) => void): Started | GatewayError {
    const wait_ms = this.backoff.wait_ms;
    if (wait_ms > 0) return down(wait_ms);
    if (this.backoff.troubled && this.#trying) return down(TRIAL_MS);
    if (this.full) return new GatewayError('OVERLOADED');
    const launched = this.#deps.launch();
    const peer: Peer = new Peer(launched.pipe, {
      max_pending: this.#options.max_pending,
      junk: this.#deps.junk,
      refused: this.#deps.refused,
      ended: (end) => {
        this.#ended(end, peer, launched);
        ended(end);
      },
    });
    const started = { peer, launched };
    this.#alive.add(started);
    void launched.gone.then(() => this.#alive.delete(started));
    return started;
  }

  /** Ends one that is of no use, and takes it for a failure. */
  discard({ peer }: Pick<Started, 'peer'>, end: PipeEnd): void {
    this.backoff.failed();
    this.#deps.ended(end);
    peer.close('UPSTREAM_DOWN');
  }

  /** Ends one that `server/discover` made unusable, if it has not ended by itself: that does not count as a failure of its command. */
  excuse({ peer, launched }: Started): void {
    this.#excused.add(peer);
    if (peer.closed) return;
    peer.close('UPSTREAM_DOWN');
    void launched.stop(EXCUSED_MS);
  }

  /** One more would be too many. */
  get full(): boolean {
    return this.#alive.size >= this.#options.max_children;
  }

  /** Ends all that still exist. */
  async close(grace_ms: number): Promise<void> {
    await Promise.all([...this.#alive].map(({ launched }) => launched.stop(grace_ms)));
  }

  /** One that was started has not shown yet that it works. */
  get #trying(): boolean {
    for (const { peer } of this.#alive) if (!peer.spoke && !peer.closed) return true;
    return false;
  }

  #ended(end: PipeEnd, peer: Peer, { pid, exit, last_words }: ProcessHandle): void {
    if (end !== 'spawn' && this.#excused.has(peer)) return;
    // One that never answered anything tells that the next one will not either.
    if (!peer.spoke) this.backoff.failed();
    this.#deps.ended(end);
    // The log already names the command that could not be started.
    if (end === 'spawn') return;
    this.#deps.log.warn({ pid, how: end, ...exit, answered: peer.spoke, stderr: last_words.slice(-5) }, 'the MCP server ended by itself');
  }
}

/** How long a caller is asked to wait for the trial of another. */
const TRIAL_MS = 1000;

/** How long an excused one has to end by itself. */
const EXCUSED_MS = 1500;

/** The error for a call that ends while its server starts. */
export function startingDetail(start_timeout_ms: number): string {
  return `The server is still starting and goes on: a later call finds it. It has start_timeout_ms (${start_timeout_ms}) for that.`;
}

/** Nothing is started for a while: try again then. */
export function down(wait_ms: number): GatewayError {
  return new GatewayError('UPSTREAM_DOWN', { headers: { 'retry-after': retryAfter(wait_ms / 1000) } });
}

export interface Backoff {
  /** Milliseconds until the next start is allowed; 0: now. */
  readonly wait_ms: number;
  /** True after a failure that counts still: then one start is tried at a time. */
  readonly troubled: boolean;
  /** A start came to nothing, or what was started ended by itself. */
  failed(): void;
}

/**
 * 250 ms after the first failure, twice as long after each further one, 30 s at most. A failure that comes more than a minute
 * after the wait for the one before counts as the first again.
 */
export function createBackoff(clock: Clock): Backoff {
  let failures = 0;
  let until_ms = Number.NEGATIVE_INFINITY;
  return {
    get wait_ms() {
      return Math.max(0, until_ms - clock.mono_ms());
    },
    get troubled() {
      return failures > 0 && clock.mono_ms() - until_ms <= FORGET_MS;
    },
    failed() {
      const now = clock.mono_ms();
      if (now - until_ms > FORGET_MS) failures = 0;
      until_ms = now + Math.min(MAX_MS, FIRST_MS * 2 ** failures);
      failures = Math.min(failures + 1, 20);
    },
  };
}
