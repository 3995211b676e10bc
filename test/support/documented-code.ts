import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { repositoryPath } from './repository.js';

/** A piece of code in the documentation. */
export interface Block {
  /** `file:line` of its first line. */
  readonly where: string;
  readonly code: string;
}

/** Beside the built examples: a program there finds the package by its own name. The caller removes it. */
export const placeOf = (name: string): string => repositoryPath(`dist/examples/${name}`);

/** Compiles the blocks in `place` under the strictest options, to `block-N.mjs`. Returns what the compiler says, with page and line. */
export async function compileBlocks(blocks: readonly Block[], place: string): Promise<string> {
  mkdirSync(place, { recursive: true });
  const files = blocks.map(({ code }, at) => {
    // JavaScript is compiled as TypeScript: a reader pastes it into either.
    writeFileSync(`${place}/block-${at}.mts`, `${code}\nexport {};\n`);
    return `${place}/block-${at}.mts`;
  });
  const options = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--skipLibCheck'];
  const target = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--ignoreConfig', '--pretty', 'false'];
  const tsc = repositoryPath('node_modules/typescript/bin/tsc');
  const run = promisify(execFile)(process.execPath, [tsc, ...options, ...target, ...files], { cwd: place, timeout: 300_000 });
  return run.then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) =>
      `${stdout}${stderr}`.replaceAll(/[^\s]*block-(\d+)\.mts/g, (_file, at: string) => blocks[Number(at)]?.where ?? ''),
  );
}
