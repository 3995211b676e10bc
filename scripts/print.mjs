// Writes the generated files: those of src/print/printed.ts, the copies under deploy/, and the lists of docs/semver.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printedFiles } from '../dist/src/print/printed.js';
import { deployCopies } from './deploy-copies.mjs';
import { semverPage } from './semver-page.mjs';

const pathOf = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const sources = ['deploy/prometheus/rules.yaml', 'deploy/grafana/dashboard.json'].map((name) => readFileSync(pathOf(name), 'utf8'));

const semver = { 'docs/semver.md': await semverPage() };

for (const [name, text] of Object.entries({ ...printedFiles(), ...deployCopies(...sources), ...semver })) {
  const file = pathOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
