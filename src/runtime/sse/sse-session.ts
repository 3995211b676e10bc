import type { Clock, Timer } from '../../contract/clock.js';
import type { HeaderView } from '../../contract/head.js';
import type { Call, Exchange, HeaderList, MessageWriter, Runtime } from '../../contract/runtime.js';
import { settledCall } from '../../contract/runtime.js';
import type { EndReason } from '../../contract/telemetry.js';
import { CallDeadline, type CallTimes } from '../../core/run/call-deadline.js';
import { GatewayError } from '../../errors/error.js';
import { type SseChannel, SseExchange } from './sse-exchange.js';

export interface SseSessionDeps {
  readonly clock: Clock;
  /** Of each call. */
  readonly times: CallTimes;
  /** Its stream is over. */
  ended(): void;
}

/**
 * One client of HTTP+SSE: its event stream, the session that it has at the runtime, and its calls that run. Messages that a slow reader keeps from being written wait, at most
 * 256 of them and 4 MiB; one more ends the stream as `slow_consumer`.
 */
export class SseSession implements SseChannel {
  readonly #runtime: Runtime;
  /** Of the GET. */
  readonly #opened: Call;
  readonly #writer: MessageWriter;
  readonly #deps: SseSessionDeps;
  readonly #running = new Set<SseExchange>();
  readonly #resumes = new Map<SseExchange, () => void>();
  #waiting: Uint8Array[] = [];
  #waiting_bytes = 0;
  #gathered_bytes = 0;
  #slow = false;
  /** The id that the runtime gave its session. */
  #native: string | undefined;
  /** The runtime's own stream, which carries what belongs to no call. */
  #listening: SseExchange | undefined;
  #again: Timer | undefined;
  #again_ms = FIRST_AGAIN_MS;
  #over = false;

  constructor(runtime: Runtime, opened: Call, writer: MessageWriter, deps: SseSessionDeps) {
    this.#runtime = runtime;
    this.#opened = settledCall(opened);
    this.#writer = writer;
    this.#deps = deps;
    writer.onDrain(() => this.#flush());
  }

  /** A message of the client. A request is accepted at once, and answered on the stream; the rest is answered by the runtime. */
  handle(call: Call, exchange: Exchange): void {
    if (call.kind !== 'request') {
      this.#runtime.handle(this.#within(call), exchange);
      if (call.method === 'notifications/initialized') this.#listen();
      return;
    }
    if (this.#running.size >= MAX_RUNNING) return exchange.fail(new GatewayError('OVERLOADED'));
    exchange.accept();
    this.#run(call, new SseExchange(call, this, this.#deadline()));
  }

  /** Ends the stream and all that runs for it. Calling it twice does nothing. */
  end(reason: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#again?.cancel();
    this.#waiting = [];
    for (const exchange of [...this.#running]) exchange.cancel(reason);
    this.#listening?.cancel(reason);
    this.#writer.end(reason);
    this.#leave();
    this.#deps.ended();
  }

  write(message: Uint8Array | string): boolean {
    if (this.#over) return false;
    if (!this.#slow) {
      this.#slow = !this.#writer.write(message);
      return !this.#slow;
    }
    // Whoever wrote it may use its bytes again.
    const kept = Buffer.from(message);
    const full = this.#waiting.length >= MAX_WAITING || this.#waiting_bytes + kept.length > MAX_WAITING_BYTES;
    if (full && this.#waiting.length > 0) this.end('slow_consumer');
    else {
      this.#waiting.push(kept);
      this.#waiting_bytes += kept.length;
    }
    return false;
  }

  onDrain(exchange: SseExchange, resume: () => void): void {
    this.#resumes.set(exchange, resume);
  }

  gather(bytes: number): boolean {
    if (this.#gathered_bytes + bytes > MAX_GATHERED_BYTES) return false;
    this.#gathered_bytes += bytes;
    return true;
  }

  answering({ method }: Call, headers: HeaderList): void {
    if (method !== 'initialize') return;
    const at = headers.findIndex((name, i) => i % 2 === 0 && name === SESSION);
    this.#leave();
    this.#native = at === -1 ? undefined : headers[at + 1];
  }

  over(exchange: SseExchange): void {
    this.#running.delete(exchange);
    this.#resumes.delete(exchange);
  }

  lost(): void {
    this.end('source');
  }

  #run(call: Call, exchange: SseExchange): void {
    this.#running.add(exchange);
    this.#runtime.handle(this.#within(call), exchange);
  }

  /** Hears what the server says of itself, until it has no such stream; one that ends is opened again. */
  #listen(): void {
    if (this.#over || this.#listening !== undefined) return;
    const call: Call = { ...this.#opened, kind: 'get_stream' };
    const exchange = new SseExchange(call, this, undefined, (how) => {
      this.#listening = undefined;
      if (this.#over || how === 'failed') return;
      this.#again = this.#deps.clock.timer(this.#again_ms, () => this.#listen());
      this.#again_ms = Math.min(2 * this.#again_ms, MAX_AGAIN_MS);
    });
    this.#listening = exchange;
    this.#runtime.handle(this.#within(call), exchange);
  }

  /** The runtime's session is not needed any more. */
  #leave(): void {
    if (this.#native === undefined) return;
    const call: Call = { ...this.#opened, kind: 'session_end' };
    const left = this.#within(call);
    this.#native = undefined;
    this.#runtime.handle(left, new SseExchange(call, this, this.#deadline()));
  }

  #flush(): void {
    this.#slow = false;
    while (!this.#slow && !this.#over) {
      const message = this.#waiting.shift();
      if (message === undefined) break;
      this.#waiting_bytes -= message.length;
      this.#slow = !this.#writer.write(message);
    }
    for (const resume of [...this.#resumes.values()]) if (!this.#slow && !this.#over) resume();
  }

  #deadline(): CallDeadline {
    return new CallDeadline(this.#deps.clock, this.#deps.times);
  }

  /** The call as one of the runtime's session; the id in its query is nobody else's business. */
  #within(call: Call): Call {
    const { id, method, path, headers, peer, received_at_ms, claims } = call.head;
    return { ...call, head: { id, method, path, query: '', headers: withSession(headers, this.#native), peer, received_at_ms, claims } };
  }
}

/** The fields with this session id as the only one. */
function withSession(headers: HeaderView, session: string | undefined): HeaderView {
  const { raw } = headers;
  const kept = raw.filter((_text, i) => (raw[i - (i % 2)] as string).toLowerCase() !== SESSION);
  const own = session === undefined ? [] : [session];
  return {
    raw: session === undefined ? kept : [...kept, SESSION, session],
    get: (name) => (name === SESSION ? session : headers.get(name)),
    all: (name) => (name === SESSION ? own : headers.all(name)),
  };
}

const SESSION = 'mcp-session-id';
/** Calls of one client that run at once. */
const MAX_RUNNING = 64;
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 4_194_304;
/** Of answers of one client that arrive in parts. */
const MAX_GATHERED_BYTES = 16_777_216;
const FIRST_AGAIN_MS = 1_000;
const MAX_AGAIN_MS = 30_000;
