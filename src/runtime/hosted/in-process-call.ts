import type { Call, Exchange } from '../../contract/runtime.js';
import type { ErrorCode } from '../../errors/codes.js';
import { type ErrorDetail, GatewayError } from '../../errors/error.js';
import type { Answer, AnswerHost, ProxiedParts } from '../answer/answer.js';
import { readUpstreamHead } from '../answer/answer.js';
import { openAnswer } from '../answer/open-answer.js';

/**
 * One exchange with a server in this process that speaks in `Response` objects. Its answer is judged and relayed as an
 * upstream's is: one event at a time, the reader's pace obeyed, the server told when the client left.
 */
export class InProcessCall implements AnswerHost {
  readonly call: Call;
  readonly exchange: Exchange;
  readonly parts: ProxiedParts;
  readonly session = undefined;
  readonly #controller = new AbortController();
  #answer: Answer | undefined;
  #released = false;
  #resume: (() => void) | undefined;

  constructor(parts: ProxiedParts, call: Call, exchange: Exchange) {
    this.parts = parts;
    this.call = call;
    this.exchange = exchange;
    exchange.onCancel((reason) => {
      if (reason === 'drain') this.#answer?.drain?.();
      this.abort();
    });
  }

  /** Fires when the caller no longer waits for the answer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Relays the answer to its end. Never rejects. */
  async relay(responding: Promise<Response>): Promise<void> {
    try {
      const response = await responding;
      this.exchange.upstreamResponded();
      const length = response.headers.get('content-length');
      const head = readUpstreamHead(response.status, [...response.headers].flat(), length === null ? undefined : Number(length));
      this.#answer = openAnswer(this, head);
      if (this.#answer !== undefined) await this.#read(response.body);
      else await response.body?.cancel();
    } catch (error) {
      if (this.signal.aborted) return;
      this.exchange.upstreamResponded();
      if (this.#answer !== undefined) this.#answer.broken(error as Error);
      else this.exchange.fail(new GatewayError('RUNTIME_FAILED', { cause: error }));
    }
  }

  abort(): void {
    this.#released = true;
    this.#resume?.();
    this.#controller.abort();
  }

  resume(): void {
    this.#resume?.();
  }

  release(): void {
    this.abort();
  }

  /** A hosted server has no sessions. */
  sessionEnded(): void {}

  fail(code: ErrorCode, reason: string, detail?: ErrorDetail): void {
    this.note(code, reason);
    // Without an upstream the failure is that of the server in this process.
    this.exchange.fail(new GatewayError(code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_ANSWER' ? 'RUNTIME_FAILED' : code, detail));
  }

  note(code: ErrorCode, reason: string): void {
    const { route, head } = this.call;
    this.parts.log.warn({ route: route.path, request_id: head.id, code, reason }, 'the hosted server failed');
  }

  async #read(body: ReadableStream<Uint8Array> | null): Promise<void> {
    const reader = body?.getReader();
    try {
      for (;;) {
        const next = await reader?.read();
        if (this.#released) return void (await reader?.cancel().catch(() => undefined));
        if (next === undefined || next.done) return this.#answer?.end();
        const { buffer, byteOffset, byteLength } = next.value;
        if (this.#answer?.data(Buffer.from(buffer, byteOffset, byteLength)) === false) await this.#caughtUp();
      }
    } finally {
      reader?.releaseLock();
    }
  }

  #caughtUp(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = undefined;
        resolve();
      };
    });
  }
}
