import { randomInt } from 'node:crypto';
import type { Clock, Counter, Log, Timer } from 'portcullis/gate';
import { SourceFailure, withDeadline } from './endpoint.js';
import type { JsonObject } from './json-object.js';
import type { KeySet } from './key-set.js';
import type { KeySource } from './key-source.js';
import { OutageLog } from './outage-log.js';
export type KeyVerdict = 'verified' | 'wrong' | 'unavailable';

export interface IssuerKeysParts {
  readonly issuer: string;
  readonly source: KeySource;
  readonly refresh_s: number;
  readonly stale_s: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Label value of the issuer. */
  readonly label: string;
  readonly fetches: Counter;
  /** Taken back at close. */
  readonly gauges: readonly (() => void)[];
}

const FETCH_TIMEOUT_MS = 5000;
const UNKNOWN_KEY_PAUSE_MS = 60_000;
const FIRST_BACK_OFF_MS = 1000;
const MAX_BACK_OFF_MS = 30_000;

/**
 * The signature keys of one issuer, fetched in the background and shared by every gate that trusts it. One load runs at a
 * time, for at most 5 s. Keys are loaded again every `refresh_s`; when that fails they serve for `stale_s` more, and loads
 * are tried again after 1 s, doubling to 30 s, with jitter. A token whose key is unknown causes at most one load a minute.
 */
export class IssuerKeys {
  readonly #parts: IssuerKeysParts;
  readonly #outage: OutageLog;
  #keys: KeySet | undefined;
  #loaded_at_ms = 0;
  #failures = 0;
  #loading: Promise<void> | undefined;
  #timer: Timer | undefined;
  #next_load_at_ms = 0;
  #next_unknown_at_ms = Number.NEGATIVE_INFINITY;
  #epoch = 0;
  #closed = false;

  constructor(parts: IssuerKeysParts) {
    this.#parts = parts;
    this.#outage = new OutageLog(parts.log, parts.clock);
    void this.#load(false);
  }

  /** Rises when a key that was there is gone: what it verified must be verified again. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Seconds since the keys were loaded; undefined before the first time. */
  get age_s(): number | undefined {
    return this.#keys === undefined ? undefined : (this.#now() - this.#loaded_at_ms) / 1000;
  }

  get size(): number {
    return this.#keys?.size ?? 0;
  }

  /** When it is worth to ask again after `unavailable`. */
  get retry_after_s(): number {
    return Math.max(1, (this.#next_load_at_ms - this.#now()) / 1000);
  }

  /**
   * Whether one of the issuer’s keys signed the token. `unavailable`: unknown for now, because there are no usable keys, or
   * because the token’s key is not among them and they could not be loaded again. Waits for a load that no failure preceded.
   */
  async verify(compact: string, header: JsonObject, algorithms: readonly string[]): Promise<KeyVerdict> {
    const waits = [() => this.#loadInProgress(), () => this.#followRotation()];
    let tried: KeySet | undefined;
    for (;;) {
      const keys = this.#usable();
      if (keys !== undefined && keys !== tried) {
        const verdict = await keys.verify(compact, header, algorithms);
        if (verdict !== 'unknown_key') return verdict;
        tried = keys;
      }
      const wait = waits.shift();
      if (wait === undefined) return keys !== undefined && this.#failures === 0 ? 'wrong' : 'unavailable';
      await wait();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    for (const takeBack of this.#parts.gauges) takeBack();
    await this.#parts.source.close();
    await this.#loading;
  }

  #now(): number {
    return this.#parts.clock.mono_ms();
  }

  #usable(): KeySet | undefined {
    const { refresh_s, stale_s } = this.#parts;
    return this.#keys !== undefined && this.#now() <= this.#loaded_at_ms + (refresh_s + stale_s) * 1000 ? this.#keys : undefined;
  }

  /** The running load, if the one before it did not fail: after a failure no caller waits. */
  async #loadInProgress(): Promise<void> {
    if (this.#failures === 0) await this.#loading;
  }

  /** Loads once for an unknown key, unless that was done within the minute or the source is known to be down. */
  async #followRotation(): Promise<void> {
    if (this.#failures === 0 && this.#loading === undefined && this.#now() >= this.#next_unknown_at_ms) {
      this.#next_unknown_at_ms = this.#now() + UNKNOWN_KEY_PAUSE_MS;
      void this.#load(true);
    }
    await this.#loadInProgress();
  }

  #load(quick: boolean): Promise<void> {
    this.#timer?.cancel();
    this.#loading ??= this.#loadOnce(quick).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadOnce(quick: boolean): Promise<void> {
    const { source, clock, refresh_s, fetches, label, issuer } = this.#parts;
    try {
      this.#accept(await withDeadline(clock, FETCH_TIMEOUT_MS, (signal) => source.load(quick, signal)));
      fetches.add({ issuer: label, outcome: 'ok' });
      this.#outage.recovered(issuer, this.#failures);
      this.#failures = 0;
      this.#schedule(jitter(refresh_s * 1000, 0.9, 1));
    } catch (error) {
      if (this.#closed) return;
      this.#failures += 1;
      const reason = error instanceof SourceFailure ? error.reason : 'malformed';
      fetches.add({ issuer: label, outcome: reason });
      this.#schedule(jitter(Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (this.#failures - 1)), 0.5, 1));
      const detail = error instanceof Error ? error.message : String(error);
      this.#outage.failed({ issuer, reason, detail, failures: this.#failures, usable: this.#usable() !== undefined });
    }
  }

  #accept(keys: KeySet): void {
    const before = this.#keys?.fingerprints ?? new Set<string>();
    const withdrawn = [...before].some((fingerprint) => !keys.fingerprints.has(fingerprint));
    if (withdrawn) this.#epoch += 1;
    // Equal keys stay, because their imported forms are kept with them.
    if (withdrawn || before.size !== keys.fingerprints.size) this.#keys = keys;
    this.#outage.skipped(this.#parts.issuer, keys.skipped);
    this.#loaded_at_ms = this.#now();
  }

  #schedule(delay_ms: number): void {
    if (this.#closed) return;
    this.#next_load_at_ms = this.#now() + delay_ms;
    this.#timer = this.#parts.clock.timer(delay_ms, () => void this.#load(false));
  }
}

function jitter(delay_ms: number, least: number, most: number): number {
  return Math.round(delay_ms * (least + ((most - least) * randomInt(1001)) / 1000));
}
