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
          const options = config.runtimes[runtime];
          const streamable = options?.kind === 'proxied' && options.transport === 'http';
          if (streamable && (await speaksSse({ name: runtime, url, ca }, egress, signal)))
            return [
              fail(name, `${url} looks like HTTP+SSE, the transport of revision 2024-11-05`, `Set runtimes.${runtime}.transport: sse`),
            ];
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

/** POST is not served there, and GET gives an event stream that begins with an `endpoint` event. */
async function speaksSse({ url, ca }: UpstreamPlace, egress: Egress, signal: AbortSignal): Promise<boolean> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const { status } = await runHttpCheck(url, { method: 'POST', headers, body, ca, egress }, signal);
  if (status !== 404 && status !== 405) return false;
  const stream = await runHttpCheck(url, { headers: { accept: 'text/event-stream' }, ca, egress, first_event: true }, signal);
  return stream.status === 200 && /^event: ?endpoint\r?$/m.test(stream.body);
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
