import type { AnswerOutcome, EventFields, MessageWriter } from '../../contract/runtime.js';
import type { EndReason } from '../../contract/telemetry.js';
import { completionText } from '../../core/run/listen.js';
import { GatewayError } from '../../errors/error.js';
import { withoutBom } from '../../wire/bytes.js';
import { errorText } from '../../wire/rpc.js';
import { type SseEvent, SseParser, type SseParserOptions } from '../../wire/sse.js';
import { judgeAnswer, type AnswerVerdict as Verdict } from '../../wire/summary.js';
import { reasonOf } from '../shared/faults.js';
import { type Answer, type AnswerHost, ownAnswer, TASK_UNKNOWN, withTaskNames } from './answer.js';
import { BackpressureWriter } from './backpressure-writer.js';

/**
 * An event stream, relayed event by event: each is parsed whole, checked and re-encoded, so nothing partial, no comment and
 * no line break of the upstream's making reaches the client. The stream of a request ends with the response to it (MCP Streamable
 * HTTP, "Receiving Messages"), and the upstream's with it. Memory: one event of `max_event_bytes` and one read.
 */
export class EventAnswer implements Answer, SseParserOptions {
  readonly max_event_bytes: number;
  readonly #host: AnswerHost;
  readonly #writer: BackpressureWriter;
  readonly #parser: SseParser;
  #over = false;
  #resumable = false;

  constructor(host: AnswerHost, writer: MessageWriter) {
    this.#host = host;
    this.#writer = new BackpressureWriter(writer, host);
    this.max_event_bytes = host.parts.max_event_bytes;
    this.#parser = new SseParser(this);
  }

  data(chunk: Buffer): boolean {
    this.#parser.push(chunk);
    return this.#over || !this.#writer.blocked;
  }

  end(): void {
    this.#ended('ended without the response');
  }

  broken(error: Error): void {
    this.#ended(reasonOf(error));
  }

  drain(): void {
    const { id, kind, method, era } = this.#host.call;
    const listens = method === 'subscriptions/listen';
    if (this.#over || !(listens || kind === 'get_stream')) return;
    this.#over = true;
    const last = listens && era === 'modern' ? Buffer.from(completionText(id as string)) : undefined;
    this.#writer.cut(last, 'drain');
  }

  onEvent(event: SseEvent): void {
    if (this.#over) return;
    const { call, exchange } = this.#host;
    if (event.id !== undefined && event.id !== '') this.#resumable = call.era === 'legacy';
    if (!event.has_data || event.data.length === 0) {
      // A legacy server primes a stream with an id and no data, so that its client can come back for the rest.
      if (call.era === 'legacy' && (event.id !== undefined || event.retry !== undefined)) this.#writer.write(event.data, event);
      return;
    }
    const data = withoutBom(event.data);
    const verdict = judgeAnswer(data);
    if (!verdict.complete) return this.#host.note('UPSTREAM_BROKEN', 'an event is not one JSON object; dropped');
    const final = verdict.kind === 'response' && call.kind === 'request';
    const answer = final ? ownAnswer(call, data, verdict, false) : data;
    if (answer === undefined) return this.#host.note('UPSTREAM_BROKEN', 'an event does not answer this call; dropped');
    const own = withTaskNames(this.#host, answer);
    if (own === undefined) return this.#withoutTask(final);
    this.#writer.write(own, event);
    if (verdict.progress) exchange.progressed();
    else if (verdict.kind === 'request' && call.era === 'legacy') exchange.inputRequested();
    if (final) this.#final(own, verdict);
  }

  onTooLarge(): void {
    this.#cut('an event is too large');
    this.#host.abort();
  }

  #withoutTask(final: boolean): void {
    if (!final) return this.#host.note('UPSTREAM_BROKEN', 'an event is about a task that was not asked for; dropped');
    this.#cut(TASK_UNKNOWN);
    this.#host.release();
  }

  #final(answer: Uint8Array, verdict: Verdict): void {
    const { call, parts } = this.#host;
    this.#finish('source', verdict.outcome, verdict.rpc_code);
    if (call.method === 'tools/list' && verdict.outcome === 'ok') parts.tools.learn(call.route.path, answer);
    this.#host.release();
  }

  /** The upstream's half is over and the response to a request was not in it. */
  #ended(reason: string): void {
    if (this.#over) return;
    const { kind } = this.#host.call;
    if (kind === 'get_stream') this.#finish('source');
    // The client knows event ids and can ask for the rest with Last-Event-ID; an error would end its call for good.
    else if (this.#resumable) this.#finish('source');
    else this.#cut(reason);
  }

  #cut(reason: string): void {
    if (this.#over) return;
    this.#host.note('UPSTREAM_BROKEN', reason);
    const { kind, id, head } = this.#host.call;
    // It answers the call, so no client waits for a result that never comes.
    if (kind === 'request') this.#writer.write(Buffer.from(errorText(new GatewayError('UPSTREAM_BROKEN'), id, head.id)), UNTYPED);
    this.#finish('error', 'upstream_error');
  }

  #finish(reason: EndReason, outcome?: AnswerOutcome, rpc_code?: number): void {
    this.#over = true;
    this.#writer.end(reason, outcome, rpc_code);
  }
}

/** An event of the default type, as upstreams send theirs. */
const UNTYPED: EventFields = {};
