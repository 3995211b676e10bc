import type { ProcessHost } from './contract/process-host.js';

/** The process that this is. The only place beside main.ts that touches it. */
export const systemProcess: ProcessHost = {
  env: process.env,
  execPath: process.execPath,
  kill: (pid, signal) => process.kill(pid, signal),
};
