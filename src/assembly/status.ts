import type { Config } from '../config/schema/config.js';
import type { Listener } from '../listener/server.js';
import type { Runtimes } from './runtimes.js';
import { routeUrl } from './urls.js';

/** The live state as JSON, for `/status` on the ops listener. Holds no secret and no upstream address. */
export function statusOf(config: Config, public_url: string, version: string, listener: Listener, runtimes: Runtimes): unknown {
  const connections: Record<string, number> = {};
  for (const phase of listener.phases()) connections[phase] = (connections[phase] ?? 0) + 1;
  const health = new Map(runtimes.all.map((runtime) => [runtime.name, runtime.health]));
  return {
    version,
    url: public_url,
    drain: { state: listener.drain.state, remaining: listener.drain.state === 'serving' ? 0 : listener.drain.remaining },
    connections,
    subscriptions: { open: listener.subscriptions, max: config.listener.limits.max_subscriptions },
    routes: config.routes.map((route) => ({
      path: route.path,
      url: routeUrl(route, public_url),
      public: route.public,
      gates: [...config.listener.gates, ...route.gates],
      runtime: route.runtime,
    })),
    runtimes: Object.entries(config.runtimes).map(([name, { kind }]) => ({ name, kind, health: health.get(name) ?? 'stopped' })),
  };
}
