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
  /** Streams of the gateway's own that are open at once. One more fails with `TOO_MANY_STREAMS`: calls find a connection. */
  readonly max_streams: number;
}

/**
 * Requests of the gateway's own. Those of one caller share its places in the queue with its forwarded calls; streams count as one caller's, whoever they are
 * for, so that none keeps a call from being sent.
 */
export class QueuedSenders {
  readonly #parts: QueuedSenderParts;
  #streams = 0;

  constructor(parts: QueuedSenderParts) {
    this.#parts = parts;
  }

  /** `streams`: its POSTs are answered by streams that stay open. `fixed`: of another target than the runtime's. */
  of(caller: string, streams = false, fixed = this.#parts.fixed): HttpSender {
    return { send: (method, ...rest) => this.#send(caller, method === 'stream' || streams, fixed, method, ...rest) };
  }

  #send(
    caller: string,
    stream: boolean,
    fixed: FixedHeads,
    ...[method, fields, body, listener]: Parameters<HttpSender['send']>
  ): () => void {
    const lines = fieldLines(fields);
    const full = stream && this.#streams >= this.#parts.max_streams;
    if (lines === undefined || full) return soon(() => listener.failed(full ? 'TOO_MANY_STREAMS' : 'BAD_REQUEST'));
    if (stream) this.#streams += 1;
    const request = {
      head: fixed[method === 'stream' ? 'get' : method] + lines,
      body: body === undefined ? undefined : Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    };
    const sent = new QueuedRequest(stream ? STREAMS : caller, request, this.#parts, listener, () => {
      if (stream) this.#streams -= 1;
    });
    sent.start();
    return () => sent.stop();
  }
}

class QueuedRequest implements Waiter, UpstreamListener {
  readonly caller: string;
  place: Waiter['place'] = undefined;
  readonly #request: UpstreamRequest;
  readonly #parts: QueuedSenderParts;
  readonly #listener: HttpListener;
  readonly #onLeft: () => void;
  #line: UpstreamHandle | undefined;
  #sent = false;
  #spoke = false;
  #launched = false;
  #stopped = false;
  #left = false;

  constructor(caller: string, request: UpstreamRequest, parts: QueuedSenderParts, listener: HttpListener, left: () => void) {
    this.caller = caller;
    this.#request = request;
    this.#parts = parts;
    this.#listener = listener;
    this.#onLeft = left;
  }

  start(): void {
    if (this.#parts.queue.enter(this) !== 'refused') return;
    this.#left = true;
    this.#onLeft();
    soon(() => this.#displaced());
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    if (!this.#launched) this.#leave();
    else this.#line?.abort(STOPPED, this);
  }

  displaced(): void {
    this.#left = true;
    this.#onLeft();
    this.#displaced();
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

  #displaced(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener.failed('OVERLOADED');
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#line = undefined;
    this.#onLeft();
    this.#parts.queue.leave(this);
  }
}

/** Runs once the sender has returned: its caller is not ready for an answer before. Returns the way to prevent it. */
function soon(run: () => void): () => void {
  let stopped = false;
  queueMicrotask(() => {
    if (!stopped) run();
  });
  return () => {
    stopped = true;
  };
}

/** No caller's key. */
const STREAMS = 'streams';
const STOPPED = new UpstreamFailure('STOPPED', 'stopped');
