import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Clock } from '../contract/clock.js';
import { findPackage } from './find-package.js';
import { loadModule } from './load-module.js';

/** What a module exports, or why it could not be loaded, in words for the operator. */
export type Imported =
  | { readonly ok: true; readonly space: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string };

/** Imports `npm:package[/subpath]`, installed in or above `folder`, or `file:path`, relative to `folder`. Never rejects. */
export async function importModule(use: string, folder: string, clock: Clock): Promise<Imported> {
  const kind = use.startsWith('npm:') ? 'npm' : 'file';
  const rest = use.slice(kind.length + 1);
  try {
    if (kind === 'npm' && !PACKAGE.test(rest)) return no('names no npm package; write npm:<package> or npm:<package>/<subpath>');
    const url = moduleUrl(use, folder);
    if (kind === 'file' && !existsSync(fileURLToPath(url)))
      return no(`could not be loaded: no such file: ${fileURLToPath(url)}; relative names start at the folder of the config file`);
    return { ok: true, space: await loadModule(url, clock) };
  } catch (error) {
    return no(whyNotLoaded(error));
  }
}

/** The URL of the file that `npm:package[/subpath]` or `file:path` names from `folder`. Throws an Error that names what is missing. */
export function moduleUrl(use: string, folder: string): string {
  const rest = use.slice(use.indexOf(':') + 1);
  if (use.startsWith('npm:')) return findPackage(rest, folder);
  return rest.startsWith('//') ? use : pathToFileURL(resolve(folder, rest)).href;
}

/** What `read` finds on a module's export, or why it cannot be looked at: an accessor of it may throw whatever it likes. */
export function inspect(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch (error) {
    return `cannot be looked at: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Why an import failed, with the remedy if the module does not find `portcullis` itself. */
export function whyNotLoaded(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `could not be loaded: ${message}${OWN_PACKAGE.test(message) ? OWN_PACKAGE_HINT : ''}`;
}

const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:\/[A-Za-z0-9._~-]+)*$/;

/** Node's message when a module imports `portcullis/…` and the package is not installed near it. */
const OWN_PACKAGE = /^Cannot find package 'portcullis'/;
const OWN_PACKAGE_HINT =
  '; install portcullis beside the module (npm install /path/to/portcullis in its folder), or keep the module below a folder that has it in node_modules';

const no = (message: string): Imported => ({ ok: false, message });
