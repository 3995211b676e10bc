import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

/** Files of the process itself: modules, logs, the ops listener, timers of the event loop. */
const OWN = 128;
const PER_CHILD = 3;

/** The limit on open files against the connections that the config allows. `limits` is the text of `/proc/self/limits`; undefined elsewhere. */
export function checkOpenFiles({ listener, runtimes }: Config, limits: string | undefined): Check {
  const name = 'open files';
  const { max_connections } = listener.limits;
  const behind = Object.values(runtimes).reduce(
    (sum, runtime) =>
      sum + ('connections' in runtime ? runtime.connections : runtime.kind === 'stdio' ? PER_CHILD * runtime.max_children : 0),
    0,
  );
  return {
    name,
    run() {
      const found = /^Max open files\s+(\d+|unlimited)/m.exec(limits ?? '')?.[1];
      if (found === undefined) return [ok(name, 'the limit is not known on this system')];
      const limit = found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found);
      const remedy = `Raise it to ${max_connections + behind + OWN}: ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of a container; or lower listener.limits.max_connections.`;
      if (limit < max_connections + OWN)
        return [fail(name, `${found} are allowed, fewer than ${max_connections} connections of clients need`, remedy)];
      if (limit < max_connections + behind + OWN)
        return [
          warn(name, `${found} are allowed; ${max_connections} connections of clients and ${behind} of runtimes at once need more`, remedy),
        ];
      return [ok(name, `${found} are allowed, enough for ${max_connections} connections of clients and ${behind} of runtimes`)];
    },
  };
}

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
