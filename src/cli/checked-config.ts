import { builtins } from '../../gates/index.js';
import { certificateProblems } from '../assembly/certificates.js';
import { chainInput } from '../assembly/snapshot.js';
import { transportProblems } from '../assembly/transport.js';
import { publicUrl } from '../assembly/urls.js';
import { examineConfig, type LoadedConfig } from '../config/load.js';
import { locate } from '../config/source.js';
import type { View } from '../config/view.js';
import { ConfigError, type ConfigProblem } from '../errors/error.js';
import { type ChainInput, checkChains } from '../gate-chain/load.js';
import { serverProblems } from '../modules/find-server.js';
import { systemClock } from '../system-clock.js';
import { type ConfigOption, configFileOf } from './config-option.js';
import type { CliIo } from './run-io.js';

/**
 * Loads the config that the command line names and looks into its gates (modules, options, order), servers, transports and certificates. Throws
 * ConfigError with all problems of them at once. Nothing is opened and no network is used.
 */
export async function loadCheckedConfig(options: ConfigOption, io: CliIo): Promise<LoadedConfig> {
  const { loaded, problems, view, source } = examineConfig(configFileOf(options, io), { env: io.env, cwd: io.cwd });
  const told = new Set(problems.map((problem) => problem.where));
  const found =
    loaded === undefined
      ? await checkChains(soundChains(view), { builtins, folder: view.folder, clock: systemClock })
      : await gateProblems(loaded);
  const more = found.filter(({ where }) => !told.has(where));
  const all = [...problems, ...more.map((problem) => locate(problem, source))];
  if (loaded === undefined || all.length > 0) throw new ConfigError(all.sort(byPlace));
  return loaded;
}

/** What is wrong with the modules and the certificates of a config that is sound in itself. */
export async function gateProblems(loaded: LoadedConfig): Promise<readonly ConfigProblem[]> {
  const { config, folder } = loaded;
  const gates = await checkChains(chainInput(loaded, publicUrl(config)), { builtins, folder, clock: systemClock });
  const servers = await serverProblems(config, folder, systemClock);
  return [...gates, ...servers, ...(await transportProblems(config, folder, systemClock)), ...certificateProblems(config)];
}

/** The valid gates and chains of an invalid config. Broken ones are omitted, but routes keep their index. */
function soundChains(view: View): ChainInput {
  const gates = Object.fromEntries([...view.gates].flatMap(([name, gate]) => (gate === undefined ? [] : [[name, gate]])));
  const known = (names: readonly string[]) => (names.every((name) => Object.hasOwn(gates, name)) ? names : []);
  const count = Math.max(-1, ...view.routes.map(({ at }) => Number(at[1]))) + 1;
  const routes = Array.from({ length: count }, (_, index) => {
    const route = view.routes.find(({ at }) => at[1] === index)?.route;
    const chain = known(route?.gates ?? []);
    return { path: route?.path ?? '', url: '', runtime: '', gates: chain, public: chain.length === 0 || route?.public === true };
  });
  const listener_gates = known(view.listener?.gates ?? []);
  return { gates, listener_gates, routes, gate_timeout_ms: 1, public_url: '' };
}

function byPlace(a: ConfigProblem, b: ConfigProblem): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** Gives the problems of a late ConfigError their places in the file; any other error is returned as it is. */
export function located(error: unknown, { source }: LoadedConfig): unknown {
  return error instanceof ConfigError ? new ConfigError(error.problems.map((problem) => locate(problem, source))) : error;
}
