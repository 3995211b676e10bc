import { isLoopback } from '../format/network.js';
import type { Rule } from '../view.js';

/** Static headers have one spelling each; a CA without TLS is pointless. */
export const upstreams: Rule = ({ runtimes }, report) => {
  for (const [name, runtime] of runtimes) {
    if (runtime === undefined || !('url' in runtime)) continue;
    const seen = new Set<string>();
    for (const header of Object.keys(runtime.headers)) {
      if (seen.has(header.toLowerCase()))
        report.errorAtKey(['runtimes', name, 'headers', header], 'this field is there already in another spelling');
      seen.add(header.toLowerCase());
    }
    if (runtime.ca_file !== undefined && runtime.url.toLowerCase().startsWith('http:')) {
      report.warn(['runtimes', name, 'ca_file'], 'has no effect: the URL is plain http');
    }
    if (runtime.kind === 'proxied' && runtime.transport === 'sse' && runtime.protocol === 'modern') {
      report.error(['runtimes', name, 'protocol'], 'a server of transport: sse speaks legacy revisions alone');
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

/** No upstream is this gateway itself: each request would come back to it until the connections run out. */
export const loops: Rule = ({ listener, ops, runtimes }, report) => {
  const own = [listener, ops?.enabled === true ? ops : undefined];
  for (const [name, runtime] of runtimes) {
    const url = runtime === undefined || !('url' in runtime) || !URL.canParse(runtime.url) ? undefined : new URL(runtime.url);
    if (url === undefined) continue;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
    for (const place of own) {
      if (place === undefined || place.port !== port) continue;
      const everywhere = place.host === '0.0.0.0' || place.host === '::' || isLoopback(place.host);
      if (place.host === host || (everywhere && isLoopback(host))) report.error(['runtimes', name, 'url'], 'is this gateway itself');
    }
  }
};
