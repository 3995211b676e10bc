// Runs the end-to-end scripts one after the other, each in a process of its own, and says how many passed.
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

let failed = 0;
for (const script of scripts) {
  const started = performance.now();
  const { code, output } = await run(script);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok' : 'NOT OK'} ${script} ${seconds} s`);
  if (code === 0) continue;
  failed++;
  console.log(output.split('\n').slice(-80).join('\n'));
}
console.log(`${scripts.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && scripts.length > 0 ? 0 : 1;

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
