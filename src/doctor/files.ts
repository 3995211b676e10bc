import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../config/load.js';
import { type Check, type Finding, ok, warn } from './check.js';

/** That only their owner reads private keys and the secrets of `${file:…}`. That all files can be read at all, loading the config has shown. */
export function checkFiles({ config, file, folder }: LoadedConfig): Check {
  const name = 'files';
  return {
    name,
    run() {
      const text = file === undefined ? '' : readFileSync(file, 'utf8');
      const secrets = [...text.replaceAll(/^\s*#.*$/gm, '').matchAll(/(?<!\$)\$\{file:([^}]+)\}/g)].map((match) =>
        resolve(folder, match[1] ?? ''),
      );
      const key = config.listener.tls?.key_file;
      const all = [...new Set([...(key === undefined ? [] : [key]), ...secrets])];
      const open = all.filter((one) => (statSync(one).mode & 0o007) !== 0);
      if (open.length === 0)
        return [
          ok(name, all.length === 0 ? 'no key and no secret is kept in a file' : `${all.length} with keys and secrets, closed to others`),
        ];
      return open.map(
        (one): Finding => warn(name, `${one} holds a key or a secret, and every user of this machine may open it`, `chmod o= ${one}`),
      );
    },
  };
}
