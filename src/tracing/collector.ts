import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { Clock } from '../contract/clock.js';
import { type Egress, NO_PROXY } from '../contract/egress.js';

export interface CollectorOptions {
  /** The whole URL that spans are posted to, e.g. `http://127.0.0.1:4318/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM of the certificate authorities that the collector must chain to; undefined: the public ones. */
  readonly ca: string | undefined;
  /** For one export, from the connection to the end of the answer. */
  readonly timeout_ms: number;
  readonly clock: Clock;
  /** The way to the collector; default: directly. */
  readonly egress?: Egress | undefined;
}

/** What became of one export. `later`: worth another try, not before `after_ms`. `why` names no host and no header. */
export type Delivery =
  | { readonly kind: 'delivered'; readonly rejected: number }
  | { readonly kind: 'later'; readonly after_ms: number; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** The OTLP/HTTP side of a collector. */
export interface Collector {
  /** Posts one body. Never rejects. */
  send(body: string, signal: AbortSignal): Promise<Delivery>;
  close(): Promise<void>;
}

const MAX_ANSWER_BYTES = 65_536;
/** What OTLP/HTTP says may be tried again. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Posts to one collector: TLS verified, no redirect followed, one connection, through the egress proxy where there is one. */
export function createCollector(options: CollectorOptions): Collector {
  const { endpoint, ca, timeout_ms, clock, egress = NO_PROXY } = options;
  const { origin, pathname } = new URL(endpoint);
  const connect = buildConnector({ timeout: timeout_ms, ...(ca === undefined ? {} : { ca }) });
  const pool = new Pool(origin, { connections: 1, pipelining: 1, connect: egress.connector(connect) });
  const headers = { ...options.headers, 'content-type': 'application/json', accept: 'application/json' };

  const post = async (body: string, signal: AbortSignal): Promise<Delivery> => {
    const answer = await pool.request({ path: pathname, method: 'POST', headers, body, signal, headersTimeout: 0, bodyTimeout: 0 });
    const text = await bounded(answer.body);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return { kind: 'delivered', rejected: rejectedIn(text) };
    const why = `the collector answered ${answer.statusCode}`;
    if (!PASSING.has(answer.statusCode)) return { kind: 'refused', why };
    return { kind: 'later', after_ms: retryAfter(answer.headers['retry-after']), why };
  };

  return {
    async send(body, signal) {
      const own = new AbortController();
      const stop = (): void => own.abort();
      const late = clock.timer(timeout_ms, stop);
      signal.addEventListener('abort', stop, { once: true });
      try {
        return await post(body, own.signal);
      } catch (error) {
        return { kind: 'later', after_ms: 0, why: own.signal.aborted ? 'the collector did not answer in time' : reasonOf(error) };
      } finally {
        late.cancel();
        signal.removeEventListener('abort', stop);
      }
    },
    close: () => pool.destroy(),
  };
}

async function bounded(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Leaving the loop destroys the rest, and with it the connection.
    if (size > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `partialSuccess.rejectedSpans` of an OTLP answer; 0 when it says nothing that can be read. */
function rejectedIn(text: string): number {
  try {
    const count = Number(JSON.parse(text)?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

function retryAfter(value: string | string[] | undefined): number {
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

/** The error's code alone: messages of the network name hosts. */
function reasonOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? `the collector cannot be reached: ${code}` : 'the collector cannot be reached';
}
