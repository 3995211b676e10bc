import type { Clock, Log } from 'portcullis/gate';
import type { SkippedKey } from './key-set.js';

/** One failure to load an issuer’s keys. */
export interface KeyFailure {
  readonly issuer: string;
  readonly reason: string;
  readonly detail: string;
  /** Failures in a row, this one included. */
  readonly failures: number;
  /** The last keys can still be used. */
  readonly usable: boolean;
}

/** Milliseconds between two lines of an outage that goes on as it was. */
const REPEAT_MS = 300_000;
const SKIPPED_PAUSE_MS = 60_000;
const MAX_NAMED = 8;

/**
 * Reports an outage when it begins, when its reason or its effect changes, then every five minutes with the number of lines
 * that were left out, and once when it is over; and which keys of a set are skipped, when that changes, at most once a minute.
 */
export class OutageLog {
  readonly #log: Log;
  readonly #clock: Clock;
  #told = '';
  #told_at_ms = 0;
  #left_out = 0;
  #skipped = '';
  #skipped_at_ms = Number.NEGATIVE_INFINITY;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  failed({ usable, ...failure }: KeyFailure): void {
    const now = this.#clock.mono_ms();
    const kind = `${usable} ${failure.reason}`;
    if (kind === this.#told && now - this.#told_at_ms < REPEAT_MS) {
      this.#left_out += 1;
      return;
    }
    const fields = this.#left_out === 0 ? failure : { ...failure, left_out: this.#left_out };
    this.#told = kind;
    this.#told_at_ms = now;
    this.#left_out = 0;
    if (usable) this.#log.warn(fields, 'the issuer’s keys could not be loaded again; the last ones serve on');
    else this.#log.error(fields, 'the issuer’s keys cannot be loaded; its tokens are answered 503');
  }

  /** At most eight keys are named. Encryption keys alone are no fault. */
  skipped(issuer: string, keys: readonly SkippedKey[]): void {
    const first = [...keys].sort((a, b) => Number(b.faulty) - Number(a.faulty));
    const named = first.slice(0, MAX_NAMED).map(({ key, why }) => `${key}: ${why}`);
    const text = named.join('; ');
    const now = this.#clock.mono_ms();
    if (text === this.#skipped || now - this.#skipped_at_ms < SKIPPED_PAUSE_MS) return;
    this.#skipped = text;
    if (keys.length === 0) return;
    this.#skipped_at_ms = now;
    const fields = { issuer, skipped: keys.length, keys: named };
    if (keys.some(({ faulty }) => faulty)) this.#log.warn(fields, 'keys of the issuer are skipped; the others serve');
    else this.#log.info(fields, 'encryption keys of the issuer are skipped');
  }

  recovered(issuer: string, failures: number): void {
    if (failures > 0) this.#log.info({ issuer, failures }, 'the issuer’s keys are loaded again');
    this.#told = '';
    this.#left_out = 0;
  }
}
