import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The tool of a row is not on this machine; the message says how to get it. */
export class Missing extends Error {}

/**
 * The first of: the path in the environment variable of that name in capitals, a file of that name on PATH, the usual places.
 * @throws Missing when none is there.
 */
export function findTool(name: string, usual: readonly string[], remedy: string): string {
  const named = process.env[name.toUpperCase()];
  const on_path = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  const found = [...(named === undefined ? [] : [named]), ...on_path, ...usual].find(isExecutable);
  if (found === undefined) throw new Missing(`${name} is not installed: ${remedy}, or set ${name.toUpperCase()} to its path`);
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
