import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { folderWith } from '../support/config-files.js';
import { repositoryPath } from '../support/repository.js';
import { isAlive } from '../support/stdio/bench.js';

// The shell and its child ignore the end of their input and SIGTERM: only SIGKILL ends them.
const STUBBORN = `trap '' TERM; sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' & echo $$ >> pids; echo up >&2; while :; do sleep 1; done`;

describe('children of a gateway that is killed', () => {
  it('end with it, stubborn ones and what they started too', { timeout: 60_000 }, async () => {
    const { folder, remove } = folderWith({});
    const main = repositoryPath('dist/src/main.js');
    const args = [main, 'run', '--port', '0', '--ops-port', '0', '--', 'sh', '-c', STUBBORN];
    const gateway = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    let log = '';
    gateway.stdout.on('data', (chunk: Buffer) => void (log += chunk.toString()));
    const pids = (): readonly number[] => {
      try {
        return readFileSync(`${folder}/pids`, 'utf8').trim().split('\n').map(Number);
      } catch {
        return [];
      }
    };
    const until = async (done: () => boolean): Promise<void> => {
      for (let i = 0; i < 500 && !done(); i++) await new Promise((resolve) => setTimeout(resolve, 50));
      assert.ok(done());
    };
    try {
      await until(() => pids().length >= 2 && log.includes('"stderr":"up"'));
      assert.ok(pids().every(isAlive));
      gateway.kill('SIGKILL');
      await until(() => !pids().some(isAlive));
    } finally {
      gateway.kill('SIGKILL');
      for (const pid of pids()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      remove();
    }
  });
});
