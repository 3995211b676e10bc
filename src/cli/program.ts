import { Command, CommanderError } from 'commander';
import { ConfigError } from '../errors/error.js';
import { version } from '../version.js';
import { registerCall } from './call.js';
import { registerCompletion } from './completion.js';
import { registerDemo } from './demo.js';
import { registerDoctor } from './doctor.js';
import { CliExit, EXIT } from './exit.js';
import { registerExplain } from './explain.js';
import { registerImport } from './import.js';
import { registerInit } from './init.js';
import { registerPrintConfig } from './print-config.js';
import { registerRun } from './run.js';
import type { RunIo } from './run-io.js';
import { registerStdio } from './stdio.js';
import { registerValidate } from './validate.js';

const COMMANDS = [
  registerRun,
  registerDemo,
  registerValidate,
  registerPrintConfig,
  registerInit,
  registerImport,
  registerExplain,
  registerDoctor,
  registerStdio,
  registerCall,
  registerCompletion,
];

/** The command line with all its commands. It writes through `io` only and throws where commander would end the process. */
export function buildProgram(io: RunIo): Command {
  const program = new Command('portcullis')
    .description('The gate in front of MCP servers.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .showHelpAfterError('(portcullis --help lists the commands, portcullis COMMAND --help their options)')
    .exitOverride();
  for (const register of COMMANDS) register(program, io);
  return program;
}

/** Runs one command line, without the two leading words of `process.argv`, and returns the exit code. Throws unexpected errors. */
export async function runProgram(program: Command, args: readonly string[], io: RunIo): Promise<number> {
  try {
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof CliExit) {
      if (error.message !== '') io.stderr(`${error.message}\n`);
      return error.code;
    }
    if (error instanceof ConfigError) {
      const count = error.problems.length;
      io.stderr(`${error.message}\n${count === 1 ? '1 problem' : `${count} problems`} in the configuration\n`);
      return EXIT.config;
    }
    throw error;
  }
}
