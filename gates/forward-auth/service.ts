import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { GateHost } from 'portcullis/gate';
import { buildConnector, Pool } from 'undici';
import type { Options } from './options.js';
import type { Question } from './question.js';

/** Bytes of an answer's head and of its body that are read; the body is thrown away. */
const MAX_HEAD_BYTES = 16_384;
const MAX_BODY_BYTES = 65_536;

/** What the service said. */
export interface ServiceAnswer {
  readonly status: number;
  /** Lower case names; a list is a field that came several times. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Service {
  /** Rejects without a complete answer within `timeout_ms`, or when `signal` aborts. */
  ask(question: Question, signal: AbortSignal): Promise<ServiceAnswer>;
  /** Cuts the connections; open questions reject. */
  close(): Promise<void>;
}

/** The connections to one service. Certificates are verified, redirects are answers like any other. Rejects for an unusable config. */
export async function createService(options: Options, host: GateHost): Promise<Service> {
  const url = toServiceUrl(options);
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    host.log.warn({}, 'forward-auth asks over plaintext beyond loopback: credentials and verdicts travel unprotected');
  }
  const ca = options.ca_file === undefined ? undefined : await readFile(resolve(host.folder, options.ca_file), 'utf8');
  const pool = new Pool(url.origin, {
    connections: options.max_connections,
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: host.egress.connector(
      buildConnector({ timeout: options.timeout_ms, rejectUnauthorized: true, ...(ca === undefined ? undefined : { ca }) }),
    ),
  });
  return {
    async ask(question, signal) {
      const end = new AbortController();
      const abort = (): void => end.abort();
      const timer = host.clock.timer(options.timeout_ms, abort);
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
      try {
        const path = url.pathname + url.search;
        const { statusCode, headers, body } = await pool.request({ path, method: 'GET', headers: question, signal: end.signal });
        let bytes = 0;
        for await (const chunk of body) {
          bytes += (chunk as Uint8Array).byteLength;
          if (bytes > MAX_BODY_BYTES) break;
        }
        return { status: statusCode, headers };
      } finally {
        timer.cancel();
        signal.removeEventListener('abort', abort);
      }
    },
    close: () => pool.destroy(),
  };
}

/** Throws an Error for a URL that cannot be asked. */
export function toServiceUrl(options: Options): URL {
  if (!URL.canParse(options.url)) throw new Error('url is not a URL');
  const url = new URL(options.url);
  if (url.username !== '' || url.password !== '') throw new Error('url holds a user name or password; send a credential by headers');
  return url;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
