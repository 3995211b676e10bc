import type { Config } from '../config/schema/config.js';
import { moduleUrl } from '../gate-chain/import-module.js';
import { isOutdated } from '../gate-chain/load-module.js';

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

/** A package that was removed meanwhile has no file: nothing of it can be put in force. */
function urlOf(use: string, folder: string): string {
  try {
    return moduleUrl(use, folder);
  } catch {
    return '';
  }
}
