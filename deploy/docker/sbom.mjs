#!/usr/bin/env node
// Writes the software bill of materials of what the image installs, CycloneDX JSON, to the file named, or to standard output.
// It reads package.json and package-lock.json alone: nothing is installed and nobody is asked.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [file, ...more] = process.argv.slice(2);
if (more.length > 0) {
  console.error('usage: sbom.mjs [FILE]');
  process.exit(64);
}

const read = (name) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'portcullis-sbom-'));
try {
  // npm names the main component after its folder.
  const folder = join(scratch, 'portcullis');
  mkdirSync(folder);
  const { devDependencies, ...manifest } = read('package.json');
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(productionLock(read('package-lock.json'))));
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const sbom = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64_000_000 });
  if (file === undefined) process.stdout.write(sbom);
  else writeFileSync(file, sbom);
} finally {
  rmSync(scratch, { recursive: true });
}

/** `npm sbom --omit dev` also leaves out what production and a development tool both need: the development part is cut out here. */
function productionLock(lock) {
  const packages = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
  const { devDependencies, ...root } = lock.packages[''];
  return { ...lock, packages: { ...Object.fromEntries(packages), '': root } };
}
