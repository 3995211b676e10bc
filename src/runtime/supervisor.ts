import type { Clock, Timer } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type { Health } from '../contract/runtime.js';
import { GatewayError } from '../errors/error.js';
import type { PipeEnd } from '../transport/pipe.js';
import { type Asked, ask } from './peer/ask.js';
import { discoverParams, type Handshake, initializeParams, isDiscovery, isModernCode, readHandshake } from './peer/handshake.js';
import type { Peer } from './peer/peer.js';
import { down, type Started, type Starter } from './peer/starter.js';

/** The one peer that all modern clients share. `handshake`: it is a legacy server, and this is what it said to the gateway. */
export interface Shared {
  readonly peer: Peer;
  readonly handshake: Handshake | undefined;
}

export interface Waiter {
  ready(shared: Shared): void;
  failed(error: GatewayError): void;
}

export interface SupervisorOptions {
  /** From the start of a peer until it can be used. */
  readonly start_timeout_ms: number;
  /** Calls that may wait for the start. */
  readonly max_waiting: number;
  /** What the gateway tells servers of itself. */
  readonly version: string;
}

export interface SupervisorDeps {
  readonly starter: Starter;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keeps one peer running for modern clients. Its era is found out once, by `server/discover`: a modern one is shared as it is, a
 * legacy one waits, untouched, until a legacy client takes it for itself or the gateway initialises it for modern clients. When it
 * ends it is started again, at once after a long life, else after a growing pause; meanwhile calls are refused at once.
 */
export class Supervisor {
  /** Runs for each peer that becomes the shared one, before anybody uses it. */
  onReady: (shared: Shared) => void = () => undefined;
  readonly #options: SupervisorOptions;
  readonly #deps: SupervisorDeps;
  readonly #waiting = new Set<Waiter>();
  #era: 'modern' | 'legacy' | undefined;
  #probe = true;
  #shared: Shared | undefined;
  /** Started and not ready yet. */
  #starting: Started | undefined;
  #started_ms = 0;
  /** A legacy one that nobody has spoken to but for the probe. */
  #spare: Started | undefined;
  readonly #heirs = new WeakMap<Peer, (end: PipeEnd) => void>();
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
    const wait_ms = this.#deps.starter.backoff.wait_ms;
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

  /** Hands the untouched legacy peer over, if there is one. `ended` runs when it ends by itself. */
  takeSpare(ended: (end: PipeEnd) => void): Started | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) this.#heirs.set(spare.peer, ended);
    return spare;
  }

  close(): void {
    this.#health = 'stopped';
    this.#retry?.cancel();
    this.#deadline?.cancel();
    for (const started of [this.#shared, this.#starting, this.#spare]) started?.peer.close('DRAINING');
    this.#fail(new GatewayError('DRAINING'));
  }

  #start(): void {
    if (this.#health === 'stopped' || this.#shared !== undefined || this.#starting !== undefined) return;
    this.#retry?.cancel();
    const spare = this.#spare;
    this.#spare = undefined;
    const started = spare ?? this.#deps.starter.start((end) => this.#ended(started as Started, end));
    if (started instanceof GatewayError) return this.#blocked(started);
    this.#starting = started;
    this.#started_ms = this.#deps.clock.mono_ms();
    this.#deadline = this.#deps.clock.timer(this.#options.start_timeout_ms, () => this.#giveUp(started, 'timeout'));
    if (this.#era === 'modern') this.#ready({ peer: started.peer, handshake: undefined });
    else if (this.#era === undefined && this.#probe) this.#discover(started);
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
    const timeout_ms = Math.min(PROBE_MS, this.#options.start_timeout_ms / 2);
    ask(started.peer, this.#deps.clock, 'server/discover', discoverParams(this.#options.version), timeout_ms, (asked) => {
      if (this.#starting !== started) return;
      if (asked.kind === 'lost') {
        // Some legacy servers end when anything comes before `initialize`: the next one is not probed.
        this.#probe = false;
        return;
      }
      if (isModernAnswer(asked)) {
        this.#era = 'modern';
        return this.#ready({ peer: started.peer, handshake: undefined });
      }
      this.#era = asked.kind === 'answered' ? 'legacy' : undefined;
      if (asked.kind === 'answered' && this.#waiting.size === 0) this.#rest(started);
      else this.#initialize(started);
    });
  }

  /** The legacy peer waits for whoever comes first. */
  #rest(started: Started): void {
    this.#deadline?.cancel();
    this.#starting = undefined;
    this.#spare = started;
    this.#health = 'ready';
  }

  #initialize(started: Started): void {
    const { clock } = this.#deps;
    ask(started.peer, clock, 'initialize', initializeParams(this.#options.version), this.#options.start_timeout_ms, (asked) => {
      if (this.#starting !== started || asked.kind !== 'answered') return;
      if (isModernCode(asked.response.rpc_code)) {
        this.#era = 'modern';
        return this.#ready({ peer: started.peer, handshake: undefined });
      }
      const handshake = asked.response.outcome === 'rpc_error' ? undefined : readHandshake(asked.line);
      if (handshake === undefined) return this.#giveUp(started, 'exit');
      this.#era = 'legacy';
      started.peer.say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      this.#ready({ peer: started.peer, handshake });
    });
  }

  #ready(shared: Shared): void {
    this.#deadline?.cancel();
    this.#starting = undefined;
    this.#shared = shared;
    this.#health = 'ready';
    this.onReady(shared);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of waiting) waiter.ready(shared);
  }

  /** It lives, and is of no use. */
  #giveUp(started: Started, end: PipeEnd): void {
    this.#deps.log.warn({ pid: started.launched.pid, how: end }, 'the MCP server did not become usable in time');
    if (end === 'timeout') this.#era = undefined;
    this.#deps.starter.discard(started, end);
    this.#lost(started);
  }

  #ended(started: Started, end: PipeEnd): void {
    const heir = this.#heirs.get(started.peer);
    if (heir !== undefined) return heir(end);
    const lived_ms = this.#deps.clock.mono_ms() - this.#started_ms;
    if (started.peer.spoke && lived_ms < STABLE_MS) this.#deps.starter.backoff.failed();
    if (this.#spare === started) this.#spare = undefined;
    else if (this.#starting === started || this.#shared?.peer === started.peer) this.#lost(started);
  }

  #lost(started: Started): void {
    if (this.#starting === started) this.#starting = undefined;
    else this.#shared = undefined;
    this.#deadline?.cancel();
    if (this.#health === 'stopped') return;
    this.#health = 'degraded';
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
/** How long a server may think about `server/discover` before it is taken for a legacy one. */
const PROBE_MS = 10_000;
/** Who ends sooner after the start is started again with a growing pause. */
const STABLE_MS = 10_000;

function isModernAnswer(asked: Asked): boolean {
  if (asked.kind !== 'answered') return false;
  return asked.response.outcome === 'rpc_error' ? isModernCode(asked.response.rpc_code) : isDiscovery(asked.line);
}
