import type { ReloadResult } from '../assembly/reload.js';
import type { Clock } from '../contract/clock.js';
import { ConfigError, placeOf } from '../errors/error.js';

/** What the last reload came to. */
export interface LastReload {
  readonly at_ms: number;
  readonly outcome: 'succeeded' | 'failed';
  /** Keys that differ from those the process started with and wait for a restart. */
  readonly restart: readonly string[];
  /** Why it was refused; without the lines of the file. */
  readonly problems: readonly string[];
}

const MAX_PROBLEMS = 20;

/** Counts reloads and remembers the last one. */
export class ReloadHistory {
  readonly #clock: Clock;
  succeeded = 0;
  failed = 0;
  last: LastReload | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Follows one reload; hands its result or its error on. */
  async follow(reload: () => Promise<ReloadResult>): Promise<ReloadResult> {
    try {
      const result = await reload();
      this.succeeded += 1;
      this.last = { at_ms: this.#clock.now_ms(), outcome: 'succeeded', restart: result.restart, problems: [] };
      return result;
    } catch (error) {
      this.failed += 1;
      this.last = { at_ms: this.#clock.now_ms(), outcome: 'failed', restart: this.last?.restart ?? [], problems: problemsOf(error) };
      throw error;
    }
  }
}

function problemsOf(error: unknown): readonly string[] {
  if (!(error instanceof ConfigError)) return ['The config cannot be used; the log says why.'];
  const lines = error.problems.map((problem) => {
    const { file, line, column, where, message } = problem;
    const place = file === undefined ? '' : `${file}:${line ?? 1}:${column ?? 1} `;
    return `${place}${where === '' ? '' : `${placeOf(problem)}: `}${message}`;
  });
  const more = lines.length - MAX_PROBLEMS;
  return more > 0 ? [...lines.slice(0, MAX_PROBLEMS), `${more} more are in the log`] : lines;
}
