import { files } from './files.js';
import { exposure, limits, ports, terminators } from './rules/listener.js';
import { references } from './rules/references.js';
import { forwardedIdentity, prefixes, routes } from './rules/routes.js';
import { loops, upstreams } from './rules/runtimes.js';
import { tracing } from './rules/telemetry.js';
import { Report, type View } from './view.js';

const RULES = [references, routes, forwardedIdentity, prefixes, exposure, terminators, ports, limits, upstreams, loops, tracing, files];

/** Everything that only several parts of a config together can get wrong. */
export function applyRules(view: View): Report {
  const report = new Report();
  for (const rule of RULES) rule(view, report);
  return report;
}
