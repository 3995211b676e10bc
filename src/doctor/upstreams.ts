import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema/config.js';
import { type Egress, NO_PROXY } from '../contract/egress.js';
import { type Check, fail, ok } from './check.js';
import { runHttpCheck, viaProxy, whyUnreachable } from './http-check.js';

/** An HTTP server behind the gateway. */
export interface UpstreamPlace {
  readonly name: string;
  readonly url: string;
  readonly ca: string | undefined;
}

/** That every upstream over HTTP answers at all, over verified TLS where it is https. Its credential is not sent. */
export function checkUpstreams(config: Config, egress: Egress = NO_PROXY): readonly Check[] {
  return upstreamsOf(config).map(({ name: runtime, url, ca }): Check => {
    const name = `upstream ${runtime}`;
    return {
      name,
      async run(signal) {
        try {
          const { status } = await runHttpCheck(url, { method: 'OPTIONS', ca, egress }, signal);
          const tls = url.toLowerCase().startsWith('https:') ? ', TLS verified' : '';
          return [ok(name, `answers at ${url} (${status}${tls}${viaProxy(url, egress)})`)];
        } catch (error) {
          signal.throwIfAborted();
          const { message, remedy } = whyUnreachable(error);
          return [fail(name, `${url}: ${message}`, remedy)];
        }
      },
    };
  });
}

export function upstreamsOf({ runtimes }: Config): readonly UpstreamPlace[] {
  return Object.entries(runtimes).flatMap(([name, runtime]) => {
    if (!('url' in runtime)) return [];
    // Its query may be its credential.
    return [
      {
        name,
        url: runtime.url.replace(/\?.*$/s, ''),
        ca: runtime.ca_file === undefined ? undefined : readFileSync(runtime.ca_file, 'utf8'),
      },
    ];
  });
}
