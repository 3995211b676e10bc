import { fileURLToPath } from 'node:url';

/** Absolute path of a file or folder of this repository, by its path from the root. The tests run from `dist/test/`. */
export function repositoryPath(name: string): string {
  return fileURLToPath(new URL(`../../../${name}`, import.meta.url));
}
