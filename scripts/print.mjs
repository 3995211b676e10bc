// Writes the generated files: those of src/print/printed.ts, and the copies under deploy/.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printedFiles } from '../dist/src/print/printed.js';
import { deployCopies } from './deploy-copies.mjs';

const pathOf = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const sources = ['deploy/prometheus/rules.yaml', 'deploy/grafana/dashboard.json'].map((name) => readFileSync(pathOf(name), 'utf8'));

for (const [name, text] of Object.entries({ ...printedFiles(), ...deployCopies(...sources) })) {
  const file = pathOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
