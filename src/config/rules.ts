import { files } from './files.js';
import { isLoopback } from './format/network.js';
import { exposure, limits, ports, terminators } from './rules/listener.js';
import { references } from './rules/references.js';
import { forwardedIdentity, prefixes, routes, sseRoutes } from './rules/routes.js';
import { loops, upstreams } from './rules/runtimes.js';
import { Report, type Rule, type View } from './view.js';

/** Spans go to a URL that can take them, and not in the clear across a network. */
const tracing: Rule = ({ telemetry }, report) => {
  const options = telemetry?.tracing;
  if (options === undefined || !URL.canParse(options.endpoint)) return;
  const { protocol, pathname, hostname } = new URL(options.endpoint);
  const at = ['telemetry', 'tracing'];
  if (pathname === '/') report.warn([...at, 'endpoint'], 'has no path; collectors take spans at /v1/traces');
  if (protocol === 'https:') return;
  if (options.ca_file !== undefined) report.warn([...at, 'ca_file'], 'has no effect: the endpoint is plain http');
  if (Object.keys(options.headers).length > 0 && !isLoopback(hostname.replace(/^\[|\]$/g, '')))
    report.warn([...at, 'headers'], 'travel unencrypted: the endpoint is plain http');
};

const RULES = [
  references,
  routes,
  sseRoutes,
  forwardedIdentity,
  prefixes,
  exposure,
  terminators,
  ports,
  limits,
  upstreams,
  loops,
  tracing,
  files,
];

/** Everything that only several parts of a config together can get wrong. */
export function applyRules(view: View): Report {
  const report = new Report();
  for (const rule of RULES) rule(view, report);
  return report;
}
