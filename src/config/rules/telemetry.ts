import { isLoopback } from '../format/network.js';
import type { Rule } from '../view.js';

/** Spans go to a URL that can take them, and not in the clear across a network. */
export const tracing: Rule = ({ telemetry }, report) => {
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
