import { readFileSync } from 'node:fs';

/** The version in package.json: this file is built to `dist/src/`. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
