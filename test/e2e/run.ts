// Runs the end-to-end scripts, each in a process of its own, and says how many passed: one after the other, and beside them those that wait.
// Words on the command line choose scripts: `npm run e2e -- nginx oidc`.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LIMIT_MS = 240_000;
const folder = fileURLToPath(new URL('.', import.meta.url));
const words = process.argv.slice(2);
const scripts = readdirSync(folder)
  .filter((file) => file.endsWith('.e2e.js') && (words.length === 0 || words.some((word) => file.includes(word))))
  .sort();

/** These wait nearly all their time and ask for no quiet machine: they run one after the other beside the rest. */
const WAITING = ['alerts', 'drain', 'http-runtime', 'idle', 'limits', 'mtls-direct', 'ops-limits', 'tls-clients'].map(
  (name) => `${name}.e2e.js`,
);

let failed = 0;
const beside = scripts.filter((script) => WAITING.includes(script));
await Promise.all([inTurn(beside), inTurn(scripts.filter((script) => !beside.includes(script)))]);
console.log(`${scripts.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && scripts.length > 0 ? 0 : 1;

async function inTurn(queue: readonly string[]): Promise<void> {
  for (const script of queue) await judge(script);
}

async function judge(script: string): Promise<void> {
  const started = performance.now();
  const { code, output } = await run(script);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok' : 'NOT OK'} ${script} ${seconds} s`);
  if (code === 0) return;
  failed++;
  console.log(output.split('\n').slice(-80).join('\n'));
}

function run(script: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [`${folder}${script}`], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-100_000);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const limit = setTimeout(() => {
      output += `\nstopped after ${LIMIT_MS} ms`;
      child.kill('SIGKILL');
    }, LIMIT_MS);
    child.on('close', (code) => {
      clearTimeout(limit);
      resolve({ code, output });
    });
  });
}
