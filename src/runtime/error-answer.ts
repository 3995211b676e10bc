import type { HeaderList } from '../contract/runtime.js';
import { judgeAnswer } from '../wire/probe.js';
import type { Answer, AnswerHost } from './answer.js';
import { errorHeaders } from './faults.js';
import type { UpstreamHead } from './response-headers.js';

/**
 * An answer with an error status (400 to 599, not 401 or 403) and a JSON body. A JSON-RPC body of at most 64 KiB is relayed with
 * its status; anything else is told in our own words by `failWithStatus`.
 */
export class ErrorAnswer implements Answer {
  readonly #host: AnswerHost;
  readonly #head: UpstreamHead;
  readonly #headers: HeaderList;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(host: AnswerHost, head: UpstreamHead, headers: HeaderList) {
    this.#host = host;
    this.#head = head;
    this.#headers = headers;
  }

  data(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size <= 65_536) this.#chunks.push(chunk);
    else {
      failWithStatus(this.#host, this.#head);
      this.#host.abort();
    }
    return true;
  }

  end(): void {
    const body = Buffer.concat(this.#chunks);
    const verdict = judgeAnswer(body);
    const spoken = verdict.complete && verdict.kind === 'response' && (verdict.outcome !== 'rpc_error' || verdict.rpc_code !== undefined);
    if (!spoken) return failWithStatus(this.#host, this.#head);
    this.#host.exchange.respond(this.#head.status, this.#headers, body, verdict.outcome, verdict.rpc_code);
  }

  broken(): void {
    failWithStatus(this.#host, this.#head);
  }
}

/**
 * Tells an error status that came without a JSON-RPC body: a 4xx keeps its status (a 404 to a session is `SESSION_NOT_FOUND`), a
 * 5xx becomes 502. End-to-end fields such as Retry-After go along; a 405 always carries Allow (RFC 9110 section 15.5.6).
 */
export function failWithStatus(host: AnswerHost, head: UpstreamHead): void {
  const headers = errorHeaders(head.relayed);
  if (head.status >= 500) return host.fail('UPSTREAM_BROKEN', `status ${head.status}`, { headers });
  if (head.status === 404 && host.session !== undefined) return host.fail('SESSION_NOT_FOUND', 'upstream', { headers });
  if (head.status === 405) headers.allow ??= 'POST';
  host.fail('UPSTREAM_ANSWER', `status ${head.status}`, { status: head.status, headers });
}
