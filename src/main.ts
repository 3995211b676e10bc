#!/usr/bin/env node
import { buildProgram, runProgram } from './cli/program.js';
import type { RunIo } from './cli/run-io.js';

const io: RunIo = {
  env: process.env,
  cwd: process.cwd(),
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  terminal: process.stdout.isTTY === true,
  stdoutStream: process.stdout,
  process,
  onSignal(handle) {
    process.on('SIGTERM', handle);
    process.on('SIGINT', handle);
    return () => {
      process.off('SIGTERM', handle);
      process.off('SIGINT', handle);
    };
  },
  onHangup(handle) {
    process.on('SIGHUP', handle);
    return () => process.off('SIGHUP', handle);
  },
};

// A reader of the log that went away must not end the gateway.
process.stdout.on('error', () => undefined);

// Nothing of the drain holds the loop once the last socket is gone: this does, until the command is done.
const hold = setInterval(() => undefined, 60_000);
try {
  process.exitCode = await runProgram(buildProgram(io), process.argv.slice(2), io);
} finally {
  clearInterval(hold);
}
