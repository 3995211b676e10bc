import type { Clock, Timer } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { Health } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { PipeEnd } from '../../transport/process-handle.js';
import { type Verdict, verdictOf } from '../era/verdict.js';
import { ask } from './ask.js';
import { discoverParams, type Handshake, initializeParams, readHandshake } from './handshake.js';
import type { Peer } from './peer.js';
import { down, type Spawner, type Started } from './spawner.js';

/** The one peer that all modern clients share. `handshake`: it is a legacy server, and this is what it said to the gateway. */
export interface Shared {
  readonly peer: Peer;
  readonly handshake: Handshake | undefined;
}

export interface Waiter {
  ready(shared: Shared): void;
  failed(error: GatewayError): void;
}

/** A legacy session that needs its own peer. Exactly one of the two is called, once. */
export interface Claimant {
  /** Takes over a legacy peer that has seen only the probe. Returns the callback for an unexpected end. */
  take(started: Started): (end: PipeEnd) => void;
  /** There is none: the session starts its own. An error: nor can it. */
  none(error?: GatewayError): void;
}

/** How the era of a server is found out. */
export interface EraOptions {
  /** How long a server may think about `server/discover`. Then it is a legacy one, and the next is greeted with `initialize` first. */
  readonly probe_timeout_ms: number;
  /** How long a server that did not survive `server/discover` is not asked again. */
  readonly era_ttl_ms: number;
}

export interface SupervisorOptions extends EraOptions {
  /** From the start of a peer until it can be used. */
  readonly start_timeout_ms: number;
  /** Calls that may wait for the start. */
  readonly max_waiting: number;
  /** What the gateway tells servers of itself. */
  readonly version: string;
}

export interface SupervisorDeps {
  readonly starter: Spawner;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keeps one peer running for modern clients. Its era is found out once, by `server/discover`: a modern one is shared as it is, a legacy one waits, untouched, until a
 * legacy client takes it for itself or the gateway initialises it for modern clients. One that ends after the question, or says nothing, is legacy: it is ended without
 * counting as a failure, and the next one is greeted with `initialize`. When a peer ends it is started again, at once after a long life, else after a growing pause;
 * meanwhile calls are refused at once.
 */
export class Supervisor {
  /** Runs for each peer that becomes the shared one, before anybody uses it. */
  onReady: (shared: Shared) => void = () => undefined;
  readonly #options: SupervisorOptions;
  readonly #deps: SupervisorDeps;
  readonly #waiting = new Set<Waiter>();
  /** Undefined: not known yet. */
  era: Verdict | undefined;
  /** Until then a server is not asked `server/discover`: the last one did not survive it. */
  #unprobed_until_ms = Number.NEGATIVE_INFINITY;
  /** The one that starts has not shown its era. */
  #probing = false;
  #shared: Shared | undefined;
  /** Started and not ready yet. */
  #starting: Started | undefined;
  #started_ms = 0;
  /** A legacy peer that has seen only the probe. */
  #standby: Started | undefined;
  /** The legacy session that waits for the one that starts. */
  #claimant: Claimant | undefined;
  readonly #exitOwners = new WeakMap<Peer, (end: PipeEnd) => void>();
  #deadline: Timer | undefined;
  #retry: Timer | undefined;
  #health: Health = 'starting';

  constructor(options: SupervisorOptions, deps: SupervisorDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  get health(): Health {
    return this.#health;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts the first peer, in the background. */
  begin(): void {
    this.#start();
  }

  /** Tells the waiter when the shared peer is ready, now or soon, or why not. Returns the way to wait no more. */
  use(waiter: Waiter): () => void {
    const { wait_ms } = this.#deps.starter.backoff;
    if (this.#health === 'stopped') waiter.failed(new GatewayError('DRAINING'));
    else if (this.#shared !== undefined) waiter.ready(this.#shared);
    else if (this.#starting === undefined && wait_ms > HOLD_MS) waiter.failed(down(wait_ms));
    else if (this.#waiting.size >= this.#options.max_waiting) waiter.failed(new GatewayError('OVERLOADED'));
    else {
      this.#waiting.add(waiter);
      this.#start();
    }
    return () => void this.#waiting.delete(waiter);
  }

  /**
   * Hands the untouched legacy peer over, now or when the one that starts turns out to be one: a server that starts slowly is
   * started once, not once for each call that gave up waiting. Returns the way to wait no more.
   */
  claim(claimant: Claimant): () => void {
    const standby = this.#standby;
    if (this.#health === 'stopped') claimant.none(new GatewayError('DRAINING'));
    else if (standby !== undefined) {
      this.#standby = undefined;
      this.#exitOwners.set(standby.peer, claimant.take(standby));
    } else if (this.#probing && this.#claimant === undefined && this.#waiting.size === 0) {
      this.#claimant = claimant;
      return () => {
        if (this.#claimant === claimant) this.#claimant = undefined;
      };
    } else claimant.none();
    return () => undefined;
  }

  close(): void {
    this.#health = 'stopped';
    this.#retry?.cancel();
    this.#deadline?.cancel();
    const error = new GatewayError('DRAINING');
    this.#unclaimed()?.none(error);
    for (const started of [this.#shared, this.#starting, this.#standby]) started?.peer.close('DRAINING');
    this.#fail(error);
  }

  #start(greet = false): void {
    if (this.#health === 'stopped' || this.#shared !== undefined || this.#starting !== undefined) return;
    this.#retry?.cancel();
    const standby = this.#standby;
    this.#standby = undefined;
    const started = standby ?? this.#deps.starter.start((end) => this.#ended(started as Started, end));
    if (started instanceof GatewayError) return this.#blocked(started);
    this.#starting = started;
    this.#started_ms = this.#deps.clock.mono_ms();
    this.#deadline = this.#deps.clock.timer(this.#options.start_timeout_ms, () => this.#giveUp(started, 'timeout'));
    if (this.era === 'modern') this.#ready({ peer: started.peer, handshake: undefined });
    else if (standby === undefined && !greet && this.era === undefined && this.#started_ms >= this.#unprobed_until_ms)
      this.#discover(started);
    else this.#initialize(started);
  }

  /** Nothing can be started now. */
  #blocked(error: GatewayError): void {
    const wait_ms = this.#deps.starter.backoff.wait_ms;
    if (error.code !== 'UPSTREAM_DOWN' || wait_ms > HOLD_MS) this.#fail(error);
    this.#retryIn(wait_ms);
  }

  #retryIn(delay_ms: number): void {
    this.#retry?.cancel();
    // A timer may be a moment early.
    this.#retry = this.#deps.clock.timer(Math.ceil(delay_ms) + RETRY_MS, () => this.#start());
  }

  #discover(started: Started): void {
    const { probe_timeout_ms, start_timeout_ms, version } = this.#options;
    const timeout_ms = Math.min(probe_timeout_ms, start_timeout_ms / 2);
    this.#probing = true;
    ask(started.peer, this.#deps.clock, 'server/discover', discoverParams(version), timeout_ms, (asked) => {
      if (this.#starting !== started) return;
      if (asked.kind === 'answered') return this.#judged(started, verdictOf(asked.line, asked.response));
      // The reply is not an answer, or the probe did not reach the server: no verdict, and no reason to end it.
      if (asked.kind === 'lost' && !started.peer.closed) return this.#initialize(started);
      this.#deps.starter.excuse(started);
      if (asked.kind === 'timeout') this.#greetNext(started);
    });
  }

  #judged(started: Started, era: Verdict): void {
    this.era = era;
    if (era === 'modern') return this.#ready({ peer: started.peer, handshake: undefined });
    const claimant = this.#unclaimed();
    if (claimant === undefined) return this.#waiting.size === 0 ? this.#rest(started) : this.#initialize(started);
    this.#rest(started);
    this.claim(claimant);
    if (this.#waiting.size > 0) this.#start();
  }

  /** The one that starts did not survive the question: those who wait get the next one. */
  #greetNext(started: Started): void {
    const { pid } = started.launched;
    this.#deps.log.info({ pid }, 'the MCP server does not answer server/discover: it is started again and greeted with initialize');
    this.#unprobed_until_ms = this.#deps.clock.mono_ms() + this.#options.era_ttl_ms;
    this.#deadline?.cancel();
    this.#starting = undefined;
    this.#unclaimed()?.none();
    if (this.#deps.starter.full) void started.launched.gone.then(() => this.#start(true));
    else this.#start(true);
  }

  #unclaimed(): Claimant | undefined {
    const claimant = this.#claimant;
    this.#claimant = undefined;
    this.#probing = false;
    return claimant;
  }

  /** The legacy peer waits for the first session. */
  #rest(started: Started): void {
    this.#deadline?.cancel();
    this.#starting = undefined;
    this.#standby = started;
    this.#health = 'ready';
  }

  #initialize(started: Started): void {
    const { clock } = this.#deps;
    this.#unclaimed()?.none();
    ask(started.peer, clock, 'initialize', initializeParams(this.#options.version), this.#options.start_timeout_ms, (asked) => {
      if (this.#starting !== started || asked.kind !== 'answered') return;
      if (verdictOf(asked.line, asked.response) === 'modern') {
        this.era = 'modern';
        return this.#ready({ peer: started.peer, handshake: undefined });
      }
      const handshake = asked.response.outcome === 'rpc_error' ? undefined : readHandshake(asked.line);
      if (handshake === undefined) return this.#giveUp(started, 'exit');
      this.era = 'legacy';
      started.peer.notify('notifications/initialized');
      this.#ready({ peer: started.peer, handshake });
    });
  }

  #ready(shared: Shared): void {
    const claimant = this.#unclaimed();
    this.#deadline?.cancel();
    this.#starting = undefined;
    this.#shared = shared;
    this.#health = 'ready';
    this.onReady(shared);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of waiting) waiter.ready(shared);
    claimant?.none();
  }

  /** It lives, and is of no use. */
  #giveUp(started: Started, end: PipeEnd): void {
    this.#deps.log.warn({ pid: started.launched.pid, how: end }, 'the MCP server did not become usable in time');
    if (end === 'timeout') this.era = undefined;
    this.#deps.starter.discard(started, end);
    this.#lost(started);
  }

  #ended(started: Started, end: PipeEnd): void {
    const exitOwner = this.#exitOwners.get(started.peer);
    if (exitOwner !== undefined) return exitOwner(end);
    const lived_ms = this.#deps.clock.mono_ms() - this.#started_ms;
    if (started.peer.spoke && lived_ms < STABLE_MS) this.#deps.starter.backoff.failed();
    if (this.#standby === started) this.#standby = undefined;
    else if (this.#starting === started && this.#probing && end !== 'spawn') this.#greetNext(started);
    else if (this.#starting === started || this.#shared?.peer === started.peer) this.#lost(started);
  }

  #lost(started: Started): void {
    if (this.#starting === started) this.#starting = undefined;
    else this.#shared = undefined;
    this.#deadline?.cancel();
    const claimant = this.#unclaimed();
    // A legacy verdict is about one process: the next one may be newer.
    if (this.era === 'legacy') this.era = undefined;
    if (this.#health === 'stopped') return;
    this.#health = 'degraded';
    claimant?.none();
    const { wait_ms } = this.#deps.starter.backoff;
    this.#fail(down(wait_ms));
    this.#retryIn(wait_ms);
  }

  #fail(error: GatewayError): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of waiting) waiter.failed(error);
  }
}

/** How long a call waits for the next start rather than be refused. */
const HOLD_MS = 500;
const RETRY_MS = 20;
/** Who ends sooner after the start is started again with a growing pause. */
const STABLE_MS = 10_000;
