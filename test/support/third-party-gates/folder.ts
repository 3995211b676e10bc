// A config folder outside the tree, as an operator has one: packages installed beside it, gate files in it.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's root folder. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Makes such a folder with @acme/quota and portcullis installed and the gate files in place; `remove` deletes it. */
export function makeConfigFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'portcullis-gates-'));
  const sources = join(root, 'test', 'support', 'third-party-gates');
  mkdirSync(join(path, 'node_modules', '@acme'), { recursive: true });
  cpSync(join(sources, 'acme-quota'), join(path, 'node_modules', '@acme', 'quota'), { recursive: true });
  symlinkSync(root, join(path, 'node_modules', 'portcullis'), 'dir');
  for (const file of ['misbehaving.mjs', 'contract-2.mjs']) cpSync(join(sources, file), join(path, file));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function findRoot(from: string): string {
  return existsSync(join(from, 'package.json')) ? from : findRoot(dirname(from));
}
