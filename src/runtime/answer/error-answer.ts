import type { HeaderList } from '../../contract/runtime.js';
import { GatheredBytes, withoutBom } from '../../wire/bytes.js';
import { judgeAnswer, spellsId, type AnswerVerdict as Verdict, withId } from '../../wire/summary.js';
import { isLegacyAnswer } from '../era/verdict.js';
import { errorHeaders } from '../shared/faults.js';
import type { UpstreamHead } from './answer.js';
import { type Answer, type AnswerHost, ownAnswer, withField } from './answer.js';

/**
 * An answer with an error status (400 to 599, not 401 or 407) and a JSON body. A JSON-RPC error of at most 64 KiB is relayed with
 * its status and the id of the request; `failWithStatus` writes the gateway's error for anything else. A 403 judges the caller that the upstream
 * was told of: it is relayed only when its error names this very request, else it is `UPSTREAM_REFUSED`.
 */
export class ErrorAnswer implements Answer {
  readonly #host: AnswerHost;
  readonly #head: UpstreamHead;
  readonly #headers: HeaderList;
  readonly #body = new GatheredBytes();

  constructor(host: AnswerHost, head: UpstreamHead, headers: HeaderList) {
    this.#host = host;
    this.#head = head;
    this.#headers = head.status === 405 && !headers.includes('allow') ? withField(headers, 'allow', 'POST') : headers;
  }

  data(chunk: Buffer): boolean {
    this.#body.append(chunk);
    if (this.#body.length > MAX_BODY_BYTES) {
      this.#fail();
      this.#host.abort();
    }
    return true;
  }

  end(): void {
    const body = withoutBom(this.#body.take());
    const verdict = judgeAnswer(body);
    const spoken = verdict.complete && verdict.kind === 'response' && (verdict.outcome !== 'rpc_error' || verdict.rpc_code !== undefined);
    if (this.#host.call.era === 'modern' && isLegacyAnswer(this.#head.status, spoken ? verdict.rpc_code : undefined, body))
      this.#host.parts.eraDoubted();
    const told = spoken ? this.#told(body, verdict) : undefined;
    if (told === undefined) return this.#fail();
    const { status } = this.#head;
    // A server of both eras may say so that it does not have the method.
    if (status === 404 && verdict.rpc_code !== METHOD_NOT_FOUND) this.#host.sessionEnded();
    this.#host.exchange.respond(status, this.#headers, told, verdict.outcome, verdict.rpc_code);
  }

  broken(): void {
    this.#fail();
  }

  #told(body: Uint8Array, verdict: Verdict): Uint8Array | undefined {
    const { call } = this.#host;
    if (call.kind !== 'request') return withId(body, verdict.id_from, verdict.id_to, undefined);
    if (this.#head.status === 403 && (verdict.outcome !== 'rpc_error' || !spellsId(verdict.id, call.id))) return undefined;
    return ownAnswer(call, body, verdict, true);
  }

  #fail(): void {
    if (this.#head.status === 403) this.#host.fail('UPSTREAM_REFUSED', 'status 403');
    else failWithStatus(this.#host, this.#head);
  }
}

const MAX_BODY_BYTES = 65_536;
const METHOD_NOT_FOUND = -32601;

/**
 * Tells an error status that came without a JSON-RPC body: a 4xx keeps its status (a 404 to a session is `SESSION_NOT_FOUND`), a
 * 5xx becomes 502. End-to-end fields such as Retry-After go along; a 405 always carries Allow (RFC 9110 section 15.5.6).
 */
export function failWithStatus(host: AnswerHost, head: UpstreamHead): void {
  const headers = errorHeaders(head.relayed);
  if (host.call.era === 'modern' && isLegacyAnswer(head.status, undefined, undefined)) host.parts.eraDoubted();
  if (head.status >= 500) return host.fail('UPSTREAM_BROKEN', `status ${head.status}`, { headers });
  if (head.status === 404 && host.session !== undefined) {
    host.sessionEnded();
    return host.fail('SESSION_NOT_FOUND', 'upstream', { headers });
  }
  if (head.status === 405) headers.allow ??= 'POST';
  host.fail('UPSTREAM_ANSWER', `status ${head.status}`, { status: head.status, headers });
}
