#!/usr/bin/env node
import { Writable } from 'node:stream';
import { openPrompt } from './cli/init/prompt.js';
import { buildProgram, runProgram } from './cli/program.js';
import type { RunIo } from './cli/run-io.js';

/** From the end of the command to the end of the process, whatever still holds it. */
const LINGER_MS = 500;
let claimed = false;
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
  openPrompt: process.stdin.isTTY && process.stdout.isTTY ? () => openPrompt(process.stdin, process.stdout) : undefined,
  claimStdio() {
    claimed = true;
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = process.stderr.write.bind(process.stderr);
    const output = new Writable({ write: (chunk: Buffer, _encoding, done) => void write(chunk, done) });
    process.stdout.on('error', (error) => output.destroy(error));
    return { input: process.stdin, output };
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
  // A blocked write would keep the process alive for ever, and standard output cannot be destroyed.
  if (claimed && process.stdout.writableLength > 0) process.exit();
  // So would a connection that its peer does not close, or a module that keeps a timer. Output that is still read is waited for.
  const end = setInterval(() => process.stdout.writableLength === 0 && process.exit(), LINGER_MS);
  end.unref();
}
