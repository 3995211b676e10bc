// Runs every built unit test in this one process: a process for each file costs half a second.
// Words on the command line choose files: `node dist/test/run.js scan sse`.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const apart = ['e2e', 'support', 'soak'];
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js') && !apart.some((folder) => file.startsWith(`${folder}${sep}`)))
  // What was built once and has no source any more is not a test.
  .filter((file) => existsSync(join(root, '../../test', file.replace(/\.js$/, '.ts'))))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`);
  process.exit(64);
}
for (const file of files) await import(pathToFileURL(join(root, file)).href);
