import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../src/errors/error.js';

/** A folder of its own with these files in it; the test removes it. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-test-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The ConfigError that `run` throws; anything else, or nothing, fails the test. */
export function configErrorOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('no ConfigError was thrown');
}
