import type { HeaderList } from '../../contract/runtime.js';
import { GatheredBytes, NO_BYTES, withoutBom } from '../../wire/bytes.js';
import { AnswerSummary, judgeAnswer, spellsId, withId } from '../../wire/summary.js';
import { reasonOf } from '../shared/faults.js';
import { LEARN_BYTES } from '../shared/tools-learner.js';
import type { UpstreamHead } from './answer.js';
import { type Answer, type AnswerHost, ownAnswer, TASK_UNKNOWN, withTaskNames } from './answer.js';
import { BackpressureWriter } from './backpressure-writer.js';

/**
 * A JSON answer to a request. Up to 64 KiB (256 KiB for `tools/list`) it is gathered, checked to be one whole JSON-RPC response
 * to this very call and sent as one piece; a larger one is streamed as it comes, with back-pressure, and checked while it passes, but for
 * an answer about a bound task, which is gathered up to `max_event_bytes`; beyond that it is `UPSTREAM_BROKEN`.
 * The client gets its own id also where the upstream spells it otherwise, and no byte order mark (RFC 8259 section 8.1).
 */
export class JsonAnswer implements Answer {
  readonly #host: AnswerHost;
  readonly #head: UpstreamHead;
  readonly #headers: HeaderList;
  readonly #gather: number;
  readonly #gathered = new GatheredBytes();
  #size = 0;
  #writer: BackpressureWriter | undefined;
  #passing: PassingId | undefined;

  constructor(host: AnswerHost, head: UpstreamHead, headers: HeaderList) {
    this.#host = host;
    this.#head = head;
    this.#headers = headers;
    const { call, parts, task_names } = host;
    this.#gather = task_names !== undefined ? parts.max_event_bytes : call.method === 'tools/list' ? LEARN_BYTES : 65_536;
  }

  data(chunk: Buffer): boolean {
    this.#size += chunk.length;
    const { parts, task_names } = this.#host;
    if (this.#size > (task_names === undefined ? parts.max_response_bytes : this.#gather)) {
      this.#spoilt('too large');
      this.#host.abort();
      return true;
    }
    if (this.#passing !== undefined) return this.#pass(this.#passing.push(chunk));
    this.#gathered.append(chunk);
    return this.#size <= this.#gather || this.#open();
  }

  end(): void {
    if (this.#passing === undefined) return this.#whole(withoutBom(this.#gathered.take()));
    this.#pass(this.#passing.rest());
    const verdict = this.#passing.probe.finish();
    if (!verdict.complete) return this.#spoilt('not one whole JSON object');
    this.#writer?.end('source', verdict.outcome, verdict.rpc_code);
  }

  broken(error: Error): void {
    this.#spoilt(reasonOf(error));
  }

  #whole(body: Uint8Array): void {
    const { call, exchange, parts } = this.#host;
    const verdict = judgeAnswer(body);
    if (!verdict.complete) return this.#spoilt('not one whole JSON object');
    if (verdict.kind !== 'response') return this.#spoilt('not a JSON-RPC response');
    const answer = ownAnswer(call, body, verdict, true);
    if (answer === undefined) return this.#spoilt('the answer has another id');
    const own = withTaskNames(this.#host, answer);
    if (own === undefined) return this.#spoilt(TASK_UNKNOWN);
    exchange.respond(this.#head.status, this.#headers, own, verdict.outcome, verdict.rpc_code);
    if (call.method === 'tools/list' && verdict.outcome === 'ok') parts.tools.learn(call.route.path, own);
  }

  #open(): boolean {
    const { call, exchange } = this.#host;
    const gathered = this.#gathered.take();
    const body = withoutBom(gathered);
    const passing = new PassingId(call.id);
    this.#passing = passing;
    const first = passing.push(body);
    let { length } = this.#head;
    if (length !== undefined) length = passing.grows ? undefined : length + (passing.rest().length + first.length - gathered.length);
    passing.fixed = length !== undefined;
    this.#writer = new BackpressureWriter(exchange.stream(this.#head.status, this.#headers, length), this.#host);
    return this.#pass(first);
  }

  #pass(bytes: Uint8Array): boolean {
    if (bytes.length > 0) this.#writer?.write(bytes);
    return this.#writer?.blocked !== true;
  }

  #spoilt(reason: string): void {
    if (this.#writer === undefined) return this.#host.fail('UPSTREAM_BROKEN', reason);
    this.#host.note('UPSTREAM_BROKEN', reason);
    this.#writer.end('error', 'upstream_error');
  }
}

/** Judges an answer that passes by, and puts the call's own id in the place of one that spells it. Holds no more than an id. */
class PassingId {
  readonly probe = new AnswerSummary();
  /** Set once the length of the answer was told: from then on an id is not replaced by a longer one. */
  fixed = false;
  readonly #id: string;
  #settled = false;
  /** The beginning of an id that has not ended. */
  #held = NO_BYTES;
  /** Where what comes next, or what is held, lies in the answer. */
  #at = 0;

  constructor(id: string | undefined) {
    this.#id = id ?? '';
  }

  /** True when the answer may become longer than it came: its id may be a shorter spelling of the call's. */
  get grows(): boolean {
    return !this.#settled && /^"-?[0-9]|\\|^-0$/.test(this.#id);
  }

  /** Returns what goes on now. */
  push(chunk: Uint8Array): Uint8Array {
    this.probe.push(chunk);
    if (this.#settled) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const { id, id_from, id_to } = this.probe.finish();
    const from = id_from - this.#at;
    if (id_from < 0) {
      this.#at += bytes.length;
      return bytes;
    }
    this.#settled = id_to >= 0 || bytes.length - from > MAX_ID_TEXT;
    if (!this.#settled) {
      this.#held = bytes.subarray(from);
      this.#at = id_from;
      return bytes.subarray(0, from);
    }
    this.#held = NO_BYTES;
    return id === this.#id || !spellsId(id, this.#id) ? bytes : this.#respelt(bytes, from, id_to - this.#at);
  }

  /** What was held, at the end. */
  rest(): Uint8Array {
    return this.#held;
  }

  #respelt(bytes: Uint8Array, from: number, to: number): Uint8Array {
    const spare = to - from - Buffer.byteLength(this.#id);
    if (spare < 0 && this.fixed) return bytes;
    // White space keeps a length that was told true.
    return withId(bytes, from, to, this.#id + ' '.repeat(Math.max(0, spare))) ?? bytes;
  }
}

/** More than any id that spells one of ours. */
const MAX_ID_TEXT = 2048;
