import type { Config } from '../config/schema/config.js';
import type { Clock } from '../contract/clock.js';
import { asRuntime } from '../core/define/server-runtime.js';
import { ConfigError, type ConfigProblem } from '../errors/error.js';
import { inspect, moduleUrl, whyNotLoaded } from './import-module.js';
import { loadModule } from './load-module.js';

/**
 * The named export `server` of the module that a hosted runtime names: an absolute file, or `npm:package[/subpath]` installed in
 * or above `folder`. Rejects with a ConfigError at `runtimes.NAME.module` that says what to do; a declaration that `defineServer`
 * refused is reported component by component. Handed on in an object, so that nothing asks the export for a `then`.
 */
export async function findServer(name: string, module: string, folder: string, clock: Clock): Promise<{ readonly server: unknown }> {
  const where = `runtimes.${name}.module`;
  const fail = (message: string) => new ConfigError([{ where, message }]);
  let space: Readonly<Record<string, unknown>>;
  try {
    space = await loadModule(moduleUrl(module.startsWith('npm:') ? module : `file:${module}`, folder), clock);
  } catch (error) {
    // The module may have its own copy of this package, so its ConfigError is recognized by its shape.
    if (isConfigError(error))
      throw new ConfigError(error.problems.map((problem) => ({ where, message: `${problem.where}: ${problem.message}` })));
    throw fail(whyNotLoaded(error));
  }
  const { server } = space;
  const wrong = inspect(() => wrongShape(server));
  if (wrong !== undefined) throw fail(wrong);
  return { server };
}

/** What is wrong with the modules of hosted runtimes. They are loaded, and nothing of them is opened or called. */
export async function serverProblems({ runtimes }: Config, folder: string, clock: Clock): Promise<readonly ConfigProblem[]> {
  const checks = Object.entries(runtimes).map(async ([name, options]) => {
    if (options.kind !== 'hosted') return [];
    return problemsOf(findServer(name, options.module, folder, clock));
  });
  return (await Promise.all(checks)).flat();
}

/** What a load found wrong with the configuration. Rejects with every other error. */
export async function problemsOf(load: Promise<unknown>): Promise<readonly ConfigProblem[]> {
  return load.then(
    () => [],
    (error: unknown) => {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    },
  );
}

function wrongShape(server: unknown): string | undefined {
  if (server === undefined) return 'has no named export "server" (see docs/server.md)';
  return asRuntime(server) === undefined && typeof server !== 'function' ? NO_SERVER : undefined;
}

/** The problem with an export that cannot be served. */
export const NO_SERVER =
  'its export "server" was not made by defineServer of portcullis/server, and is not a function that returns an official SDK server (see docs/server.md)';

function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === 'ConfigError' && Array.isArray((error as Partial<ConfigError>).problems);
}
