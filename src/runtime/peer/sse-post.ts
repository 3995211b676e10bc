import type { Clock, Timer } from '../../contract/clock.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { UpstreamHead } from '../answer/answer.js';
import type { HttpListener, HttpSender } from './http-post.js';

export interface SsePostEvents {
  /** The server took the message. */
  accepted(): void;
  failed(code: ErrorCode): void;
  /** The exchange holds nothing any more; called once. */
  over(): void;
}

/** One message on its way: the answer comes on the stream, that of the POST is read no further than its head. */
export class SsePost implements HttpListener {
  readonly id: string | undefined;
  readonly #clock: Clock;
  readonly #events: SsePostEvents;
  #late: Timer | undefined;
  #end: () => void = ignore;
  #over = false;

  constructor(id: string | undefined, clock: Clock, events: SsePostEvents) {
    this.id = id;
    this.#clock = clock;
    this.#events = events;
  }

  start(sender: HttpSender, fields: readonly string[], line: Uint8Array): void {
    // A request is given up by its caller.
    if (this.id === undefined) this.#late = this.#clock.timer(POST_MS, () => this.#fail('UPSTREAM_BROKEN'));
    this.#end = sender.send('post', fields, line, this);
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#late?.cancel();
    this.#end();
    this.#events.over();
  }

  /** Nothing depends on it any more; a body that ends soon leaves its connection usable. */
  linger(): void {
    this.#late?.cancel();
    if (!this.#over) this.#late = this.#clock.timer(LINGER_MS, () => this.stop());
  }

  head({ status }: UpstreamHead): void {
    if (status >= 200 && status < 300) {
      this.linger();
      this.#events.accepted();
    } else if (status === 401 || status === 403 || status === 407) this.#fail('UPSTREAM_REFUSED');
    else this.#fail(status === 404 ? 'SESSION_NOT_FOUND' : 'UPSTREAM_BROKEN');
  }

  data(): void {}

  end(): void {
    this.stop();
  }

  failed(code: ErrorCode): void {
    this.#fail(code);
  }

  #fail(code: ErrorCode): void {
    if (this.#over) return;
    this.#over = true;
    this.#late?.cancel();
    this.#end();
    this.#events.failed(code);
    this.#events.over();
  }
}

function ignore(): void {}

const POST_MS = 30_000;
const LINGER_MS = 250;
