// Writes the generated files: config/portcullis.schema.json, config/REFERENCE.md, docs/errors.md, docs/metrics.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printedFiles } from '../dist/src/print/printed.js';

for (const [name, text] of Object.entries(printedFiles())) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
