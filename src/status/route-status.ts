import { routeUrl } from '../assembly/urls.js';
import type { Config } from '../config/schema/config.js';
import type { WorkView } from '../listener/socket/connection.js';
import { type Samples, tally } from './gate-status.js';

export interface RouteStatus {
  readonly path: string;
  /** What clients dial. */
  readonly url: string;
  readonly public: boolean;
  /** Config names in the order they are asked, those of the listener first. */
  readonly gates: readonly string[];
  readonly runtime: string;
  /** Requests without an answer now, streams included. */
  readonly in_flight: number;
  /** Open event streams by kind. */
  readonly streams: Readonly<Record<string, number>>;
  /** Requests since the start, by outcome. */
  readonly requests: Readonly<Record<string, number>>;
}

export function routesOf(config: Config, public_url: string, work: Iterable<WorkView>, samples: Samples): readonly RouteStatus[] {
  const requests = samples('requests_total');
  const busy = new Map<string, { in_flight: number; readonly streams: Record<string, number> }>();
  for (const { route, stream } of work) {
    const at = busy.get(route) ?? { in_flight: 0, streams: {} };
    at.in_flight += 1;
    if (stream !== undefined) at.streams[stream] = (at.streams[stream] ?? 0) + 1;
    busy.set(route, at);
  }
  return config.routes.map((route) => ({
    path: route.path,
    url: routeUrl(route, public_url),
    public: route.public,
    gates: [...config.listener.gates, ...route.gates],
    runtime: route.runtime,
    in_flight: busy.get(route.path)?.in_flight ?? 0,
    streams: busy.get(route.path)?.streams ?? {},
    requests: tally(requests, 'outcome', 'route', route.path),
  }));
}
