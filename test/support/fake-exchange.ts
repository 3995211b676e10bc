import type { AnswerOutcome, AnswerWriter, Exchange, HeaderList, MessageWriter } from '../../src/contract/runtime.js';
import type { EndReason } from '../../src/contract/telemetry.js';
import type { GatewayError } from '../../src/errors/error.js';
import { encodeSse } from '../../src/wire/sse.js';

/** How an exchange ended, as the client would have seen it. */
export interface FakeAnswer {
  readonly by: 'respond' | 'stream' | 'events' | 'accept' | 'fail' | 'cancel';
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly reason?: EndReason | undefined;
  readonly outcome?: AnswerOutcome | undefined;
  readonly rpc_code?: number | undefined;
  readonly error?: GatewayError | undefined;
}

export interface FakeExchangeInit {
  /** Bytes that a reader who stopped lets the writer queue before `write` says false; default 16 384. */
  readonly high_water_bytes?: number;
  /** True: no slot is free for an event stream. */
  readonly refuse_events?: boolean;
  /** Default true. */
  readonly accepts_events?: boolean;
}

/** The client's half of a call, without a client. */
export interface FakeExchange extends Exchange {
  /** Resolves when the head of the answer is there. */
  readonly head: Promise<{ readonly status: number; readonly headers: HeaderList }>;
  /** Resolves once, when the answer is over. */
  readonly done: Promise<FakeAnswer>;
  /** Each write so far, as text. */
  readonly writes: readonly string[];
  readonly progress_count: number;
  readonly question_count: number;
  /** What the call waits for, as the runtime told it last. */
  readonly awaited: string | undefined;
  /** Most bytes that were ever queued for the reader. */
  readonly peak_bytes: number;
  /** Resolves when this many writes were made. */
  wrote(count: number): Promise<void>;
  /** The client stops reading, or reads on. */
  hold(): void;
  flow(): void;
  /** The client leaves, the deadline passes. */
  cancel(reason: EndReason): void;
  /** The gateway drains: what the call ends with is still sent. */
  drain(): void;
}

export function createFakeExchange(init: FakeExchangeInit = {}): FakeExchange {
  return new Fake(init);
}

class Fake implements FakeExchange {
  readonly head: FakeExchange['head'];
  readonly done: Promise<FakeAnswer>;
  readonly writes: string[] = [];
  progress_count = 0;
  question_count = 0;
  peak_bytes = 0;
  ended = false;
  awaited: string | undefined;
  readonly accepts_events: boolean;
  readonly #init: FakeExchangeInit;
  #showHead: (head: { status: number; headers: HeaderList }) => void = () => {};
  #settle: (answer: FakeAnswer) => void = () => {};
  #cancel: ((reason: EndReason) => void) | undefined;
  #drain: (() => void) | undefined;
  #chunks: Buffer[] = [];
  #queued = 0;
  #held = false;
  #watchers: (() => void)[] = [];

  constructor(init: FakeExchangeInit) {
    this.#init = init;
    this.accepts_events = init.accepts_events ?? true;
    this.head = new Promise((resolve) => (this.#showHead = resolve));
    this.done = new Promise((resolve) => (this.#settle = resolve));
  }

  upstreamStarted(): void {}
  upstreamResponded(): void {}

  waitsFor(detail: string | undefined): void {
    this.awaited = detail;
  }

  onCancel(cancel: (reason: EndReason) => void): void {
    this.#cancel = cancel;
  }

  progressed(): void {
    this.progress_count += 1;
  }

  inputRequested(): void {
    this.question_count += 1;
  }

  respond(status: number, headers: HeaderList, body: Uint8Array, outcome: AnswerOutcome, rpc_code?: number): void {
    this.#finish({ by: 'respond', status, headers, body: Buffer.from(body), outcome, rpc_code });
  }

  stream(status: number, headers: HeaderList): AnswerWriter {
    return { ...this.#writer('stream', status, headers), write: (chunk) => this.#took(chunk) };
  }

  events(headers: HeaderList): MessageWriter | undefined {
    if (this.#init.refuse_events === true) {
      this.#finish({ by: 'fail', status: 503, headers: [], body: Buffer.alloc(0) });
      return undefined;
    }
    const write: MessageWriter['write'] = (message, fields) => {
      const event = encodeSse(message, fields);
      if (!this.ended) this.writes.push(Buffer.from(event).toString());
      return this.#took(event);
    };
    return { ...this.#writer('events', 200, headers), write };
  }

  accept(status = 202, headers: HeaderList = []): void {
    this.#finish({ by: 'accept', status, headers, body: Buffer.alloc(0) });
  }

  fail(error: GatewayError): void {
    this.#finish({ by: 'fail', status: error.status, headers: Object.entries(error.headers ?? {}).flat(), body: Buffer.alloc(0), error });
  }

  wrote(count: number): Promise<void> {
    if (this.writes.length >= count) return Promise.resolve();
    return new Promise((resolve) => {
      this.#watchers.push(() => this.writes.length >= count && resolve());
    });
  }

  hold(): void {
    this.#held = true;
  }

  flow(): void {
    this.#held = false;
    this.#queued = 0;
    setImmediate(() => this.#drain?.());
  }

  drain(): void {
    this.#cancel?.('drain');
  }

  cancel(reason: EndReason): void {
    if (this.ended) return;
    this.#finish({ by: 'cancel', status: 0, headers: [], body: Buffer.concat(this.#chunks), reason });
    this.#cancel?.(reason);
  }

  #took(chunk: Uint8Array): boolean {
    if (this.ended) return true;
    this.#chunks.push(Buffer.from(chunk));
    if (this.#held) this.#queued += chunk.length;
    this.peak_bytes = Math.max(this.peak_bytes, this.#queued);
    for (const watcher of this.#watchers) watcher();
    return this.#queued <= (this.#init.high_water_bytes ?? 16_384);
  }

  #writer(by: 'stream' | 'events', status: number, headers: HeaderList): Omit<AnswerWriter, 'write'> {
    this.#showHead({ status, headers });
    return {
      onDrain: (resume) => {
        this.#drain = resume;
      },
      end: (reason, outcome, rpc_code) =>
        this.#finish({ by, status, headers, body: Buffer.concat(this.#chunks), reason, outcome, rpc_code }),
    };
  }

  #finish(answer: FakeAnswer): void {
    if (this.ended) return;
    this.ended = true;
    this.#showHead(answer);
    this.#settle(answer);
  }
}
