import type { AnswerWriter, Call, Exchange, HeaderList, MessageWriter } from '../../contract/runtime.js';
import type { EndReason } from '../../contract/telemetry.js';
import type { CallDeadline } from '../../core/run/call-deadline.js';
import { GatewayError } from '../../errors/error.js';
import { GatheredBytes } from '../../wire/bytes.js';
import { errorText } from '../../wire/rpc.js';

/** The stream that all calls of one client of HTTP+SSE share. */
export interface SseChannel {
  /** False: the reader is slow, wait for `onDrain`. */
  write(message: Uint8Array | string): boolean;
  onDrain(exchange: SseExchange, resume: () => void): void;
  /** Room for bytes of an answer that comes in parts; a negative number gives it back. False: there is none. */
  gather(bytes: number): boolean;
  /** The head of a call's answer. */
  answering(call: Call, headers: HeaderList): void;
  /** The runtime does not know the session any more. */
  lost(): void;
  over(exchange: SseExchange): void;
}

/** The client's half of one call whose answer goes out on the stream of its client. */
export class SseExchange implements Exchange {
  readonly accepts_events = true;
  ended = false;
  readonly #call: Call;
  readonly #channel: SseChannel;
  readonly #deadline: CallDeadline | undefined;
  readonly #settled: ((how: 'ended' | 'failed') => void) | undefined;
  #cancel: ((reason: EndReason) => void) | undefined;
  /** Bytes of an answer that comes in parts. */
  #gathered = 0;

  /** Without a deadline it may take for ever. `settled` runs when the runtime is done with it. */
  constructor(call: Call, channel: SseChannel, deadline: CallDeadline | undefined, settled?: (how: 'ended' | 'failed') => void) {
    this.#call = call;
    this.#channel = channel;
    this.#deadline = deadline;
    this.#settled = settled;
    deadline?.watch(() => {
      const { error } = deadline;
      deadline.stop('deadline');
      this.fail(error);
    });
  }

  upstreamStarted(): void {}

  upstreamResponded(): void {}

  onCancel(cancel: (reason: EndReason) => void): void {
    this.#cancel = cancel;
    this.#deadline?.onCancel(cancel);
  }

  waitsFor(detail: string | undefined): void {
    this.#deadline?.waitsFor(detail);
  }

  progressed(): void {
    this.#deadline?.progressed();
  }

  inputRequested(): void {
    this.#deadline?.inputRequested();
  }

  respond(status: number, headers: HeaderList, body: Uint8Array): void {
    if (this.ended) return;
    this.#channel.answering(this.#call, headers);
    const asked = this.#call.kind === 'request';
    if (asked && body.length > 0) this.#channel.write(body);
    this.#end(status >= 400 ? 'failed' : 'ended');
    if (asked && status === 404) this.#channel.lost();
  }

  stream(_status: number, headers: HeaderList): AnswerWriter {
    if (!this.ended) this.#channel.answering(this.#call, headers);
    const body = new GatheredBytes();
    return {
      write: (chunk) => {
        if (this.ended) return false;
        if (this.#channel.gather(chunk.length)) {
          this.#gathered += chunk.length;
          body.append(Buffer.from(chunk));
          return true;
        }
        this.#cancel?.('error');
        this.fail(new GatewayError('UPSTREAM_BROKEN', { detail: 'The answer is too large for HTTP+SSE.' }));
        return false;
      },
      onDrain: () => undefined,
      end: (reason) => {
        if (this.ended) return;
        if (reason !== 'source') return this.fail(new GatewayError('UPSTREAM_BROKEN'));
        this.#channel.write(body.take());
        this.#end('ended');
      },
    };
  }

  events(headers: HeaderList): MessageWriter {
    if (!this.ended) this.#channel.answering(this.#call, headers);
    return {
      // An event without a message is for clients that resume, which this transport has none of.
      write: (message) => !this.ended && (message.length === 0 || this.#channel.write(message)),
      onDrain: (resume) => this.#channel.onDrain(this, resume),
      end: () => {
        if (!this.ended) this.#end('ended');
      },
    };
  }

  accept(): void {
    if (!this.ended) this.#end('ended');
  }

  fail({ rpc, code, message, data }: GatewayError): void {
    if (this.ended) return;
    const { kind, id, head } = this.#call;
    if (kind === 'request') this.#channel.write(errorText({ rpc, code, message, data }, id, head.id));
    this.#end('failed');
    if (code === 'SESSION_NOT_FOUND' && kind === 'request') this.#channel.lost();
  }

  /** Nobody waits for it any more. */
  cancel(reason: EndReason): void {
    if (this.ended) return;
    const cancel = this.#cancel;
    this.#end('failed');
    cancel?.(reason);
  }

  #end(how: 'ended' | 'failed'): void {
    this.ended = true;
    this.#cancel = undefined;
    this.#deadline?.end();
    this.#channel.gather(-this.#gathered);
    this.#channel.over(this);
    this.#settled?.(how);
  }
}
