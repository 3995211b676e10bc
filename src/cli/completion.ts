import { Argument, type Command } from 'commander';
import { toBash } from './completion/bash.js';
import { toFish } from './completion/fish.js';
import { type CompletedProgram, completedProgram } from './completion/words.js';
import { toZsh } from './completion/zsh.js';
import type { CliIo } from './run-io.js';

const SHELLS: Readonly<Record<string, (program: CompletedProgram) => string>> = { bash: toBash, zsh: toZsh, fish: toFish };

/** `portcullis completion bash|zsh|fish`: prints a script that completes commands, options and their values, made of the commands themselves. */
export function registerCompletion(program: Command, io: CliIo): void {
  program
    .command('completion')
    .description('print a completion script for a shell, e.g. source <(portcullis completion bash)')
    .addArgument(new Argument('<shell>', 'shell that will read it').choices(Object.keys(SHELLS)))
    .action((shell: string) => io.stdout(SHELLS[shell]?.(completedProgram(program)) ?? ''));
}
