import type { LoadedConfig } from '../config/load.js';
import { locate } from '../config/source.js';
import { ConfigError } from '../errors/error.js';

/** Gives the problems of a late ConfigError their places in the file; any other error is returned as it is. */
export function located(error: unknown, { source }: LoadedConfig): unknown {
  return error instanceof ConfigError ? new ConfigError(error.problems.map((problem) => locate(problem, source))) : error;
}
