import type { HeaderList } from '../../contract/runtime.js';
import { withoutBom } from '../../wire/bytes.js';
import { type SseEvent, SseParser } from '../../wire/sse.js';
import { judgeAnswer } from '../../wire/summary.js';
import { reasonOf } from '../shared/faults.js';
import { type Answer, type AnswerHost, ownAnswer, TASK_UNKNOWN, withTaskNames } from './answer.js';

/**
 * An event stream for a client whose `Accept` takes JSON only: notifications are dropped, the response is answered as JSON. The
 * call ends there; a stream that never brings it is bounded by the exchange's deadline. Memory: one event of `max_event_bytes`.
 */
export class CollectedAnswer implements Answer {
  readonly #host: AnswerHost;
  readonly #headers: HeaderList;
  readonly #parser: SseParser;
  #over = false;

  constructor(host: AnswerHost, headers: HeaderList) {
    this.#host = host;
    this.#headers = headers;
    this.#parser = new SseParser({
      max_event_bytes: host.parts.max_event_bytes,
      onEvent: (event) => this.#event(event),
      onTooLarge: () => {
        this.#fail('an event is too large');
        host.abort();
      },
    });
  }

  data(chunk: Buffer): boolean {
    this.#parser.push(chunk);
    return true;
  }

  end(): void {
    this.#fail('ended without the response');
  }

  broken(error: Error): void {
    this.#fail(reasonOf(error));
  }

  #event(event: SseEvent): void {
    if (this.#over || event.data.length === 0) return;
    const { call, exchange, parts } = this.#host;
    const data = withoutBom(event.data);
    const verdict = judgeAnswer(data);
    if (verdict.progress) exchange.progressed();
    else if (verdict.kind === 'request' && verdict.method !== 'ping') parts.questionRefused(verdict.method ?? '');
    const answer = verdict.complete && verdict.kind === 'response' ? ownAnswer(call, data, verdict, false) : undefined;
    if (answer === undefined) return;
    const own = withTaskNames(this.#host, answer);
    if (own === undefined) {
      this.#fail(TASK_UNKNOWN);
      return this.#host.release();
    }
    this.#over = true;
    exchange.respond(200, this.#headers, own, verdict.outcome, verdict.rpc_code);
    if (call.method === 'tools/list' && verdict.outcome === 'ok') parts.tools.learn(call.route.path, own);
    this.#host.release();
  }

  #fail(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#host.fail('UPSTREAM_BROKEN', reason);
  }
}
