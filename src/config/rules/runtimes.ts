import type { Rule } from '../view.js';

/** Static headers have one spelling each; a CA without TLS is pointless. */
export const upstreams: Rule = ({ runtimes }, report) => {
  for (const [name, runtime] of runtimes) {
    if (runtime === undefined) continue;
    const seen = new Set<string>();
    for (const header of Object.keys(runtime.headers)) {
      if (seen.has(header.toLowerCase()))
        report.errorAtKey(['runtimes', name, 'headers', header], 'this field is there already in another spelling');
      seen.add(header.toLowerCase());
    }
    if (runtime.ca_file !== undefined && runtime.url.toLowerCase().startsWith('http:')) {
      report.warn(['runtimes', name, 'ca_file'], 'has no effect: the URL is plain http');
    }
    if (
      runtime.kind === 'http' &&
      runtime.forward_authorization &&
      Object.keys(runtime.headers).some((header) => header.toLowerCase() === 'authorization')
    ) {
      report.error(
        ['runtimes', name, 'forward_authorization'],
        'headers sets Authorization already; only one of them can reach the upstream',
      );
    }
  }
};
