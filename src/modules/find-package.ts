import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The URL of an installed package's entry as an `import` in `folder` would find it: the nearest `node_modules`, then the
 * package's `exports` under the conditions `import`, `node`, `default`, or its `main`. `import.meta.resolve` cannot
 * start from another folder and `require.resolve` does not see an ESM-only package. Throws an Error that names what is missing.
 */
export function findPackage(specifier: string, folder: string): string {
  const parts = specifier.split('/');
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  const subpath = `.${specifier.slice(name.length)}`;
  const require = createRequire(join(folder, 'portcullis.js'));
  const home = (require.resolve.paths(specifier) ?? [])
    .map((place) => join(place, name))
    .find((at) => existsSync(join(at, 'package.json')));
  if (home === undefined) throw new Error(`package "${name}" is not installed in or above ${folder}; the gateway never installs anything`);
  const manifest: unknown = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const exported = typeof manifest === 'object' && manifest !== null ? (manifest as { readonly exports?: unknown }).exports : undefined;
  if (exported === undefined || exported === null) return pathToFileURL(require.resolve(join(home, subpath))).href;
  const target = pick(isSubpathMap(exported) ? exported[subpath] : subpath === '.' ? exported : undefined);
  if (target === undefined) throw new Error(`package "${name}" does not export "${subpath}" for import`);
  const file = join(home, target);
  if (!target.startsWith('./') || !file.startsWith(home + sep))
    throw new Error(`package "${name}" exports "${subpath}" from outside itself`);
  return pathToFileURL(file).href;
}

const CONDITIONS = new Set(['import', 'node', 'default']);

function isSubpathMap(exported: unknown): exported is Readonly<Record<string, unknown>> {
  return typeof exported === 'object' && exported !== null && Object.keys(exported).some((key) => key.startsWith('.'));
}

/** The first target whose conditions hold, in the order of the package's own keys. */
function pick(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [key, inner] of Object.entries(target)) {
    if (!Array.isArray(target) && !CONDITIONS.has(key)) continue;
    const found = pick(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
