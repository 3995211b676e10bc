import type { Config } from '../config/schema/config.js';
import type { Log } from '../contract/log.js';
import { routeUrl } from './urls.js';

/** Says once, at start, what is served and under which limits: one line each. */
export function announce(
  log: Log,
  config: Config,
  version: string,
  url: string,
  public_url: string,
  ops_url: string | undefined,
  warnings: readonly string[],
): void {
  log.info({ version, url, public_url, ops: ops_url }, `Portcullis ${version} listens on ${url}`);
  for (const route of config.routes) {
    const gates = [...config.listener.gates, ...route.gates];
    const dialed = routeUrl(route, public_url);
    const way = gates.length === 0 ? 'public, no gates' : `${route.public ? 'public; ' : ''}gates ${gates.join(' → ')}`;
    log.info(
      { route: route.path, url: dialed, gates, runtime: route.runtime },
      `${dialed} — ${way} → ${route.runtime} (${config.runtimes[route.runtime]?.kind})`,
    );
  }
  log.info({ limits: config.listener.limits }, 'limits in force');
  for (const warning of warnings) log.warn({}, warning);
}
