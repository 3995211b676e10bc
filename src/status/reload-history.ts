import type { ReloadResult } from '../assembly/reload.js';
import type { Config } from '../config/schema/config.js';
import type { Clock } from '../contract/clock.js';
import { ConfigError, placeOf } from '../errors/error.js';
import { moduleUrl } from '../modules/import-module.js';
import { isOutdated } from '../modules/load-module.js';

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

/** Keys of the modules that run as they were before their file changed. Code is loaded once: only a restart puts the file in force. */
export function outdatedModules({ gates, runtimes }: Config, folder: string): readonly string[] {
  const modules = [
    ...Object.entries(gates).map(([name, { use }]) => [`gates.${name}.use`, use] as const),
    ...Object.entries(runtimes).flatMap(([name, options]) =>
      'module' in options
        ? [[`runtimes.${name}.module`, options.kind === 'hosted' ? hosted(options.module) : options.module] as const]
        : [],
    ),
  ];
  return modules.filter(([, use]) => /^(?:npm|file):/.test(use) && isOutdated(urlOf(use, folder))).map(([key]) => `${key} (its file)`);
}

/** A hosted server's module is an absolute file. */
function hosted(module: string): string {
  return module.startsWith('npm:') ? module : `file:${module}`;
}

/** A package that was removed meanwhile has no file, so no change of it can apply. */
function urlOf(use: string, folder: string): string {
  try {
    return moduleUrl(use, folder);
  } catch {
    return '';
  }
}
