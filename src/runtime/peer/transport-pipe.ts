import type { Clock } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { SendOptions, Transport, TransportFault, WireMessage } from '../../contract/transport.js';
import { MODERN, SERVED_REVISIONS } from '../../dialect/methods.js';
import { TransportDriver } from '../../transport/driver.js';
import type { Pipe, PipeEnd, ProcessHandle } from '../../transport/process-handle.js';
import { createRatedLog, type RatedLog } from '../../transport/rated-log.js';
import { errorObject, errorResponseText } from '../../wire/rpc.js';
import { judgeAnswer } from '../../wire/summary.js';
import type { JunkReason } from './peer.js';

export interface TransportPipeOptions {
  readonly max_message_bytes: number;
  readonly start_timeout_ms: number;
}

export interface TransportPipeDeps {
  readonly log: Log;
  readonly clock: Clock;
  open(): Promise<Transport>;
  junk(reason: JunkReason): void;
}

/**
 * One transport as a pipe: messages sent before it is ready wait, and a breach of its contract ends the pipe or is counted
 * as junk. An undeliverable request is answered with an error here, since no other part would.
 */
export class TransportPipe implements ProcessHandle, Pipe {
  onMessage: (line: Uint8Array) => void = () => undefined;
  onTooLong: Pipe['onTooLong'] = () => undefined;
  onClose: (end: PipeEnd) => void = () => undefined;
  readonly pid = undefined;
  readonly exit = undefined;
  readonly gone: Promise<void>;
  readonly #options: TransportPipeOptions;
  readonly #deps: TransportPipeDeps;
  readonly #rated: RatedLog;
  readonly #cancels = new Map<string, AbortController>();
  #driver: TransportDriver | undefined;
  #revisions: readonly string[] = SERVED_REVISIONS;
  #waiting: Uint8Array[] | undefined = [];
  #waiting_bytes = 0;
  #session_id: string | undefined;
  #last: string | undefined;
  #closed = false;
  #stopped: Promise<void> | undefined;
  #tellGone: () => void = () => undefined;

  constructor(options: TransportPipeOptions, deps: TransportPipeDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#rated = createRatedLog(deps.log, deps.clock);
    this.gone = new Promise((resolve) => (this.#tellGone = resolve));
    void this.#start();
  }

  get pipe(): Pipe {
    return this;
  }

  get last_words(): readonly string[] {
    return this.#last === undefined ? [] : [this.#last];
  }

  send(line: Uint8Array): boolean {
    if (this.#closed) return true;
    if (this.#waiting === undefined) {
      this.#send(line);
      return true;
    }
    this.#waiting_bytes += line.length;
    if (this.#waiting_bytes > MAX_WAITING_BYTES) return false;
    this.#waiting.push(line.slice());
    return true;
  }

  close(): void {
    this.#closed = true;
    void this.stop(STOP_MS);
  }

  stop(grace_ms: number): Promise<void> {
    this.#closed = true;
    this.#stopped ??= (async () => {
      for (const cancel of this.#cancels.values()) cancel.abort();
      const outcome = await this.#driver?.shutdown(Math.max(1, grace_ms));
      if (outcome?.ok === false)
        this.#deps.log.warn({ code: outcome.fault.code, why: outcome.fault.message }, 'a transport did not shut down');
      this.#tellGone();
    })();
    return this.#stopped;
  }

  async #start(): Promise<void> {
    const { clock, log, open } = this.#deps;
    try {
      const driver = new TransportDriver(await open(), {
        clock,
        log,
        message: (message, { session_id }) => {
          if (typeof session_id === 'string') this.#session_id = session_id;
          this.#message(message);
        },
        junk: (fault) => {
          this.#note(fault, 'a transport delivered an invalid message');
          this.#deps.junk('no_message');
        },
        closed: (fault) => this.#lost('exit', fault),
      });
      if (this.#closed) return this.#tellGone();
      this.#driver = driver;
      const versions = driver.versions(SERVED_REVISIONS);
      if (!versions.ok) return this.#lost('spawn', versions.fault);
      this.#revisions = versions.value;
      const started = await driver.start(this.#options.start_timeout_ms);
      if (!started.ok) return this.#lost('spawn', started.fault);
    } catch (error) {
      return this.#lost('spawn', { code: 'UNREACHABLE', message: error instanceof Error ? error.message : String(error) });
    }
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const line of waiting) if (!this.#closed) this.#send(line);
  }

  #send(line: Uint8Array): void {
    const { kind, id, method } = judgeAnswer(line);
    const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8');
    if (kind === 'request' && id !== undefined) {
      if (!this.#canSpeak(method)) return this.#refuse(id, -32601, 'The transport does not speak this era.');
      const cancel = new AbortController();
      if (this.#driver?.cancels === 'stream') this.#cancels.set(id, cancel);
      void this.#deliver(text, cancel.signal).then((fault) => {
        this.#cancels.delete(id);
        if (fault !== undefined && !cancel.signal.aborted)
          this.#refuse(id, -32603, `The transport could not deliver it (${fault.code.slice(0, 64)}).`);
      });
    } else if (method === 'notifications/cancelled' && this.#driver?.cancels === 'stream') {
      const { requestId } = (JSON.parse(text) as { params: { requestId: unknown } }).params;
      this.#cancels.get(JSON.stringify(requestId))?.abort();
    } else void this.#deliver(text, undefined);
  }

  async #deliver(text: string, signal: AbortSignal | undefined): Promise<TransportFault | undefined> {
    const session = this.#session_id === undefined ? {} : { session_id: this.#session_id };
    const options: SendOptions = { ...session, ...(signal === undefined ? {} : { signal }) };
    const outcome = await this.#driver?.send(text, () => JSON.parse(text) as WireMessage, options);
    if (outcome === undefined || outcome.ok) return undefined;
    const { fault } = outcome;
    // The session is gone (MCP 2025-11-25, Streamable HTTP, "Session Management"): its client starts another.
    if (fault.status === 404 && options.session_id !== undefined) this.#lost('exit', fault);
    else if (signal?.aborted !== true) this.#note(fault, 'a transport could not deliver a message');
    return fault;
  }

  #canSpeak(method: string | undefined): boolean {
    if (method === 'server/discover') return this.#revisions.includes(MODERN);
    return method !== 'initialize' || this.#revisions.some((revision) => revision !== MODERN);
  }

  #refuse(id: string, code: number, message: string): void {
    if (!this.#closed) this.onMessage(Buffer.from(errorResponseText(id, errorObject(code, message))));
  }

  #message(message: WireMessage | Uint8Array | string): void {
    if (this.#closed) return;
    const line = message instanceof Uint8Array ? message : Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    const { max_message_bytes } = this.#options;
    if (line.length <= max_message_bytes) return this.onMessage(line);
    const what = 'a message of the MCP server was longer than max_message_bytes and was dropped';
    this.#rated.warn({ bytes: line.length, max_message_bytes }, what);
    this.onTooLong({ answer: judgeAnswer(line), bytes: line.length }, true);
  }

  #note(fault: TransportFault, what: string): void {
    this.#last = `${fault.code}: ${fault.message}`.slice(0, 300);
    this.#deps.log.warn({ code: fault.code, why: fault.message.slice(0, 300) }, what);
  }

  #lost(end: PipeEnd, fault: TransportFault): void {
    if (this.#closed) return;
    this.#note(fault, end === 'spawn' ? 'a transport could not be started' : 'a transport ended');
    this.#closed = true;
    void this.stop(STOP_MS);
    this.onClose(end);
  }
}

const STOP_MS = 4_500;
/** What may wait for a transport that is not ready. */
const MAX_WAITING_BYTES = 16_000_000;
