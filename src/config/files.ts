import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Path, toWhere } from './path.js';
import type { Config } from './schema/config.js';
import { fileFault } from './template.js';
import type { Rule, View } from './view.js';

/** The files that a config names can be read, so that a start does not fail half-way. */
export const files: Rule = (view, report) => {
  for (const { path, name, made } of [...namedFiles(view), ...gateFiles(view)]) {
    const file = resolve(view.folder, name);
    const shown = view.referenced.has(toWhere(path)) ? '' : ` ${made ? dirname(file) : file}`;
    const what = `${made ? 'folder' : 'file'}${shown}`;
    try {
      if (made) accessSync(dirname(file), constants.W_OK);
      else if (!statSync(file).isFile()) report.error(path, `${what} is not a regular file`);
      else accessSync(file, constants.R_OK);
    } catch (error) {
      report.error(path, `${what} ${fileFault(error)}`);
    }
  }
};

/** Makes the file names of a sound config absolute, in place. */
export function absoluteFiles(config: Config, view: View): void {
  for (const { path, name } of namedFiles(view)) {
    let node = config as unknown as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) node = node[step] as Record<string | number, unknown>;
    node[path.at(-1) ?? ''] = resolve(view.folder, name);
  }
}

interface NamedFile {
  readonly path: Path;
  readonly name: string;
  /** The gateway writes it: only its folder has to be there. */
  readonly made: boolean;
}

function namedFiles({ listener, runtimes, telemetry }: View): readonly NamedFile[] {
  const files: NamedFile[] = [];
  const add = (path: Path, name: string | undefined, made = false) => {
    if (name !== undefined) files.push({ path, name, made });
  };
  add(['listener', 'tls', 'cert_file'], listener?.tls?.cert_file);
  add(['listener', 'tls', 'key_file'], listener?.tls?.key_file);
  add(['listener', 'tls', 'client_ca_file'], listener?.tls?.client_ca_file);
  for (const [name, runtime] of runtimes) {
    if (runtime !== undefined && 'url' in runtime) add(['runtimes', name, 'ca_file'], runtime.ca_file);
    if (runtime?.kind === 'hosted' && !runtime.module.startsWith('npm:')) add(['runtimes', name, 'module'], runtime.module);
  }
  add(['telemetry', 'tracing', 'ca_file'], telemetry?.tracing?.ca_file);
  const audit = telemetry?.audit?.file;
  if (audit !== '-') add(['telemetry', 'audit', 'file'], audit, true);
  return files;
}

/**
 * Files that the options of built-in gates name: texts whose key ends in `_file`. They stay as they are written, because a gate resolves
 * them itself. What the options of other gates mean is not known here.
 */
function gateFiles({ gates }: View): readonly NamedFile[] {
  const files: NamedFile[] = [];
  const look = (value: unknown, path: Path): void => {
    if (typeof value === 'string') {
      if (/_file$/.test(String(path.at(-1))) && value !== '') files.push({ path, name: value, made: false });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) look(item, [...path, index]);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) look(item, [...path, key]);
    }
  };
  for (const [name, gate] of gates) if (gate !== undefined && !gate.use.includes(':')) look(gate.options, ['gates', name, 'options']);
  return files;
}
