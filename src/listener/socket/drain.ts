import type { Clock } from '../../contract/clock.js';
import type { Limits } from '../../contract/limits.js';
import type { Log } from '../../contract/log.js';
import type { Telemetry } from '../../contract/telemetry.js';
import type { Admission } from './admission.js';
import type { Connection } from './connection.js';

/** `serving`; `draining`: readiness is off, work is still taken; `closing`: only what was read in full still runs; `closed`. */
export type DrainState = 'serving' | 'draining' | 'closing' | 'closed';

/** What a drain came to. */
export interface DrainResult {
  /** Connections that had to be destroyed at `drain_timeout_ms`. */
  readonly killed: number;
  readonly duration_ms: number;
}

/** Completions of subscriptions are spread over at most this long, so that clients do not come back as one. */
const JITTER_MS = 500;

/**
 * Takes a listener out of service without losing a request that was read in full: first it goes on serving, then it accepts no more and
 * lets what runs finish, at `drain_timeout_ms` it ends the rest.
 */
export class Drain {
  state: DrainState = 'serving';
  readonly #admission: Admission;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #log: Log;
  #running: Promise<DrainResult> | undefined;

  constructor(admission: Admission, limits: Limits, clock: Clock, telemetry: Telemetry, log: Log) {
    this.#admission = admission;
    this.#limits = limits;
    this.#clock = clock;
    this.#telemetry = telemetry;
    this.#log = log;
  }

  /** Connections that are still open. */
  get remaining(): number {
    return this.#admission.connections.size;
  }

  /** Starts the drain, or joins the one under way. Resolves when the last connection is gone. */
  begin(): Promise<DrainResult> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Ends everything at once, as a second signal asks for; a drain under way goes on to its end without a wait. */
  killNow(): void {
    if (this.state !== 'closed') this.state = this.#running === undefined ? 'closed' : 'closing';
    this.#admission.closing = true;
    this.#admission.server.close();
    this.#kill();
    if (this.state === 'closed') this.#admission.stop();
    else this.#admission.gone?.();
  }

  async #run(): Promise<DrainResult> {
    const started = this.#clock.mono_ms();
    this.state = 'draining';
    this.#admission.closing = true;
    this.#log.info(
      { delay_ms: this.#limits.drain_delay_ms, timeout_ms: this.#limits.drain_timeout_ms, connections: this.remaining },
      'drain begins',
    );
    if (this.#limits.drain_delay_ms > 0) await this.#wait(this.#limits.drain_delay_ms, () => this.state === 'closing');
    this.state = 'closing';
    this.#admission.server.close();
    for (const connection of this.#admission.connections) this.#close(connection);
    await this.#wait(this.#limits.drain_timeout_ms, () => this.remaining === 0);
    const killed = this.#kill();
    await this.#wait(1000, () => this.remaining === 0);
    this.#admission.stop();
    this.state = 'closed';
    const duration_ms = this.#clock.mono_ms() - started;
    this.#telemetry.drained(duration_ms / 1000);
    this.#log.info({ duration_ms: Math.round(duration_ms), killed }, 'drain done');
    return { killed, duration_ms };
  }

  #close(connection: Connection): void {
    const { socket, response, request, work, phase } = connection;
    if (connection.dead) return;
    if (socket.bytesRead === 0 || phase === 'handshake') this.#telemetry.connectionRefused('drain');
    if (phase === 'handshake') return void socket.destroy();
    if (response === undefined) {
      // Silent or idle: nothing is lost. Half a head: the client gets 503 and may retry.
      if (socket.bytesRead === connection.base) socket.end();
      else this.#admission.refuseRaw(connection, 'DRAINING');
    } else if (request?.complete !== true) {
      connection.closing = true;
      work?.drain();
    } else {
      if (!response.headersSent) response.shouldKeepAlive = false;
      if (phase === 'streaming') this.#clock.timer(Math.random() * this.#jitter_ms(), () => work?.drain());
      else work?.drain();
    }
  }

  #jitter_ms(): number {
    return Math.min(JITTER_MS, this.#limits.drain_timeout_ms / 4);
  }

  #kill(): number {
    let killed = 0;
    for (const connection of this.#admission.connections) {
      const { work } = connection;
      if (work !== undefined) this.#telemetry.drainKilled(work.kill(), 1);
      if (connection.phase !== 'lingering') {
        killed++;
        this.#telemetry.drainKilled('connection', 1);
      }
      connection.socket.destroy();
    }
    return killed;
  }

  /** Resolves at `limit_ms`, or earlier once `done` holds after a connection is gone. */
  #wait(limit_ms: number, done: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      if (done()) return resolve();
      const finish = (): void => {
        timer.cancel();
        this.#admission.gone = undefined;
        resolve();
      };
      const timer = this.#clock.timer(limit_ms, finish);
      this.#admission.gone = () => {
        if (done()) finish();
      };
    });
  }
}
