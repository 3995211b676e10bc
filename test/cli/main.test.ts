import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { version } from '../../src/version.js';
import { folderWith } from '../support/config-files.js';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const { folder, remove } = folderWith({
  'portcullis.yaml':
    'listener: { port: "${P}" }\nruntimes: { a: { kind: proxied, url: "http://127.0.0.1:1/mcp" } }\nroutes:\n  - { path: /a, public: true, runtime: a }\n',
});

/** Runs the built program in a process of its own. */
function portcullis(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe('the program', () => {
  after(remove);

  it('passes its arguments, environment and folder on and ends with the code', async () => {
    const [shown, usage, unset, valid] = await Promise.all([
      portcullis(['--version']),
      portcullis(['nope']),
      portcullis(['validate']),
      portcullis(['validate'], { P: '8081' }),
    ]);
    assert.deepEqual(shown, { code: 0, stdout: `${version}\n`, stderr: '' });
    assert.deepEqual([usage.code, usage.stdout], [64, '']);
    assert.deepEqual([unset.code, unset.stdout], [78, '']);
    assert.equal(
      unset.stderr,
      'portcullis.yaml:1:19 listener.port: environment variable P is not set; set it, or write ${P:-default}\n  listener: { port: "${P}" }\n                    ^\n1 problem in the configuration\n',
    );
    assert.deepEqual(valid, { code: 0, stdout: `OK ${folder}/portcullis.yaml: 1 route, 0 gates, 1 runtime\n`, stderr: '' });
  });
});
