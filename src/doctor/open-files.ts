import type { Config } from '../config/schema/config.js';
import { type Check, fail, ok, warn } from './check.js';

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
