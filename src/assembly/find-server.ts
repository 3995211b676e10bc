import type { Clock } from '../contract/clock.js';
import { ConfigError } from '../errors/error.js';
import { moduleUrl } from '../gate-chain/import-module.js';
import { loadModule } from '../gate-chain/load-module.js';

/**
 * The named export `server` of the module that a hosted runtime names: an absolute file, or `npm:package[/subpath]` installed in
 * or above `folder`. Rejects with a ConfigError at `runtimes.NAME.module` that says what to do; a declaration that `defineServer`
 * refused is told component by component.
 */
export async function findServer(name: string, module: string, folder: string, clock: Clock): Promise<unknown> {
  const where = `runtimes.${name}.module`;
  const fail = (message: string) => new ConfigError([{ where, message }]);
  let space: Readonly<Record<string, unknown>>;
  try {
    space = await loadModule(moduleUrl(module.startsWith('npm:') ? module : `file:${module}`, folder), clock);
  } catch (error) {
    // The module may have a copy of this package of its own, so its ConfigError is told by its shape.
    if (isConfigError(error))
      throw new ConfigError(error.problems.map((problem) => ({ where, message: `${problem.where}: ${problem.message}` })));
    throw fail(`could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (space.server === undefined) throw fail('has no named export "server" (see docs/server.md)');
  return space.server;
}

function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === 'ConfigError' && Array.isArray((error as Partial<ConfigError>).problems);
}
