import type { ResponseHead, UpstreamHandle, UpstreamListener, UpstreamRequest } from '../../upstream/exchange.js';
import { UpstreamFailure } from '../../upstream/exchange.js';
import type { UpstreamPool } from '../../upstream/pool.js';
import { readUpstreamHead } from '../answer/answer.js';
import type { HttpListener, HttpSender } from '../peer/http-post.js';
import { faultBeforeHead } from '../shared/faults.js';
import { type FixedHeads, fieldLines } from '../shared/request-headers.js';
import type { RequestQueue, Waiter } from './request-queue.js';
import type { UpstreamCallWatch } from './upstream-call.js';

export interface QueuedSenderParts {
  readonly fixed: FixedHeads;
  readonly queue: RequestQueue;
  readonly pool: UpstreamPool;
  readonly watch: Pick<UpstreamCallWatch, 'answered' | 'failed'>;
}

/** Requests of the gateway's own in the turn of one caller: they share its places in the queue with its forwarded calls. */
export function createQueuedSender(caller: string, parts: QueuedSenderParts): HttpSender {
  return {
    send(method, fields, body, listener) {
      const lines = fieldLines(fields);
      if (lines === undefined) {
        listener.failed('BAD_REQUEST');
        return ignore;
      }
      const bytes = body === undefined ? undefined : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      const sent = new QueuedRequest(caller, { head: parts.fixed[method] + lines, body: bytes }, parts, listener);
      sent.start();
      return () => sent.stop();
    },
  };
}

class QueuedRequest implements Waiter, UpstreamListener {
  readonly caller: string;
  place: Waiter['place'] = undefined;
  readonly #request: UpstreamRequest;
  readonly #parts: QueuedSenderParts;
  readonly #listener: HttpListener;
  #line: UpstreamHandle | undefined;
  #sent = false;
  #spoke = false;
  #launched = false;
  #stopped = false;
  #left = false;

  constructor(caller: string, request: UpstreamRequest, parts: QueuedSenderParts, listener: HttpListener) {
    this.caller = caller;
    this.#request = request;
    this.#parts = parts;
    this.#listener = listener;
  }

  start(): void {
    if (this.#parts.queue.enter(this) === 'refused') this.displaced();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    if (!this.#launched) this.#leave();
    else this.#line?.abort(STOPPED, this);
  }

  displaced(): void {
    this.#left = true;
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener.failed('OVERLOADED');
  }

  launch(): void {
    this.#launched = true;
    const line = this.#parts.pool.dispatch(this.#request, this);
    if (!this.#left) this.#line ??= line;
  }

  onConnected(line: UpstreamHandle): void {
    this.#line = line;
    this.#sent = true;
  }

  onHead({ status, fields, framing, length }: ResponseHead): void {
    this.#spoke = true;
    this.#parts.watch.answered(status);
    if (!this.#stopped) this.#listener.head(readUpstreamHead(status, fields, framing === 'length' ? length : undefined));
  }

  onData(chunk: Buffer): boolean {
    if (!this.#stopped) this.#listener.data(chunk);
    return true;
  }

  onEnd(): void {
    this.#leave();
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener.end();
  }

  onError(error: Error): void {
    this.#leave();
    if (this.#stopped) return;
    this.#stopped = true;
    if (this.#spoke) return this.#listener.failed('UPSTREAM_BROKEN');
    const { code } = faultBeforeHead(error);
    // Who retries must know that the call may have been carried out.
    const told = this.#sent && code === 'UPSTREAM_UNREACHABLE' ? 'UPSTREAM_ENDED' : code;
    this.#parts.watch.failed(told);
    this.#listener.failed(told);
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#line = undefined;
    this.#parts.queue.leave(this);
  }
}

function ignore(): void {}

const STOPPED = new UpstreamFailure('STOPPED', 'stopped');
