import type { HeaderList } from '../contract/runtime.js';
import { AnswerProbe, judgeAnswer, sameId } from '../wire/probe.js';
import type { Answer, AnswerHost } from './answer.js';
import { reasonOf } from './faults.js';
import { PatientWriter } from './patient-writer.js';
import type { UpstreamHead } from './response-headers.js';
import { LEARN_BYTES } from './tools-learner.js';

/**
 * A JSON answer to a request. Up to 64 KiB (256 KiB for `tools/list`) it is gathered, checked to be one whole JSON-RPC response
 * to this very call and sent as one piece; a larger one is streamed as it comes, with back-pressure, and checked while it passes.
 */
export class JsonAnswer implements Answer {
  readonly #host: AnswerHost;
  readonly #head: UpstreamHead;
  readonly #headers: HeaderList;
  readonly #gather: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #writer: PatientWriter | undefined;
  #probe: AnswerProbe | undefined;

  constructor(host: AnswerHost, head: UpstreamHead, headers: HeaderList) {
    this.#host = host;
    this.#head = head;
    this.#headers = headers;
    this.#gather = host.call.method === 'tools/list' ? LEARN_BYTES : 65_536;
  }

  data(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > this.#host.parts.max_response_bytes) {
      this.#spoilt('too large');
      this.#host.abort();
      return true;
    }
    if (this.#writer !== undefined) return this.#pass(chunk);
    this.#chunks.push(chunk);
    if (this.#chunks.length > MAX_PIECES) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#size <= this.#gather || this.#open();
  }

  end(): void {
    if (this.#writer === undefined)
      return this.#whole(this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks));
    const verdict = this.#probe?.finish();
    if (verdict?.complete !== true) return this.#spoilt('not one whole JSON object');
    this.#writer.end('source', verdict.outcome, verdict.rpc_code);
  }

  broken(error: Error): void {
    this.#spoilt(reasonOf(error));
  }

  #whole(body: Buffer): void {
    const { call, exchange, parts } = this.#host;
    const verdict = judgeAnswer(body);
    if (!verdict.complete) return this.#spoilt('not one whole JSON object');
    if (verdict.kind !== 'response') return this.#spoilt('not a JSON-RPC response');
    if (verdict.outcome !== 'rpc_error' && !sameId(verdict.id, call.id)) return this.#spoilt('the answer has another id');
    exchange.respond(this.#head.status, this.#headers, body, verdict.outcome, verdict.rpc_code);
    if (call.method === 'tools/list' && verdict.outcome === 'ok') parts.tools.learn(call.route.path, body);
  }

  #open(): boolean {
    const { exchange } = this.#host;
    const writer = exchange.stream(this.#head.status, this.#headers, this.#head.length);
    this.#probe = new AnswerProbe();
    this.#writer = new PatientWriter(writer, this.#host);
    for (const chunk of this.#chunks) this.#pass(chunk);
    this.#chunks = [];
    return !this.#writer.blocked;
  }

  #pass(bytes: Buffer): boolean {
    this.#probe?.push(bytes);
    this.#writer?.write(bytes);
    return this.#writer?.blocked !== true;
  }

  #spoilt(reason: string): void {
    if (this.#writer === undefined) return this.#host.fail('UPSTREAM_BROKEN', reason);
    this.#host.note('UPSTREAM_BROKEN', reason);
    this.#writer.end('error', 'upstream_error');
  }
}

/** An answer that comes byte by byte is not held as as many buffers. */
const MAX_PIECES = 64;
