import type { Listener } from '../listener/server.js';
import type { Snapshot } from './snapshot.js';
import { routeUrl } from './urls.js';

/** The live state as JSON, for `/status` on the ops listener. Holds no secret and no upstream address. */
export function statusOf(snapshot: Snapshot | undefined, version: string, listener: Listener): unknown {
  if (snapshot === undefined) return { version };
  const { public_url, runtimes } = snapshot;
  const { config } = snapshot.loaded;
  const connections: Record<string, number> = {};
  for (const phase of listener.phases()) connections[phase] = (connections[phase] ?? 0) + 1;
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
    runtimes: Object.entries(config.runtimes).map(([name, { kind }]) => ({
      name,
      kind,
      health: runtimes.by_name.get(name)?.runtime.health ?? 'stopped',
    })),
  };
}
