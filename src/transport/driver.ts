import type { Clock, Timer } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import type {
  RawMessage,
  SendOptions,
  Transport,
  TransportFault,
  TransportOptions,
  TransportOutcome,
  TransportState,
  WireMessage,
} from '../contract/transport.js';
import { isObject } from '../core/call/params.js';
import { isFault, misbehaved, readOutcome } from './misbehaviour.js';
import { CLOSED, DONE } from './outcomes.js';

export interface DriverDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** One message of the peer: as bytes or text where the transport parses nothing itself. */
  message(message: WireMessage | Uint8Array | string, metadata: Readonly<Record<string, unknown>>): void;
  /** The input is not a message. */
  junk(fault: TransportFault): void;
  /** The peer is gone, or the transport broke its contract. Told once. */
  closed(fault: TransportFault): void;
}

/** Drives any transport by its contract: what it throws, forgets or makes up becomes a fault, and its pure callbacks are looked up before use. */
export class TransportDriver {
  readonly #transport: Transport;
  readonly #deps: DriverDeps;
  readonly #options: TransportOptions;
  #state: TransportState;
  #phase: 'new' | 'open' | 'closing' | 'closed' = 'new';

  constructor(transport: Transport, deps: DriverDeps) {
    this.#transport = transport;
    this.#deps = deps;
    const { clock, log } = deps;
    this.#options = { clock, log, receive: (raw) => this.#receive(raw), closed: (fault) => this.#closed(toFault(fault)) };
  }

  get cancels(): 'stream' | 'message' {
    return this.#transport.cancels === 'stream' ? 'stream' : 'message';
  }

  /** Starts it, within `timeout_ms`; `signal` ends the wait. */
  async start(timeout_ms: number, signal?: AbortSignal): Promise<TransportOutcome<void>> {
    const run = async (): Promise<TransportOutcome<unknown>> => {
      if (typeof this.#transport.init === 'function') {
        const made = readOutcome('init', this.#transport.init(this.#options));
        if (!made.ok) return made;
        this.#state = made.value;
      }
      this.#phase = 'open';
      await this.#transport.start(this.#options);
      return DONE;
    };
    const outcome = await this.#within(timeout_ms, 'start', run, { signal, grace_ms: 0 });
    if (!outcome.ok) this.#phase = 'closed';
    return outcome;
  }

  /** Those of `known` that can be spoken, in the same order. */
  versions(known: readonly string[]): TransportOutcome<readonly string[]> {
    try {
      const versions: unknown = this.#transport.supportedProtocolVersions();
      if (versions === 'all') return { ok: true, value: known };
      if (Array.isArray(versions)) return { ok: true, value: known.filter((version) => versions.includes(version)) };
      return misbehaved('supportedProtocolVersions', 'returned neither "all" nor a list');
    } catch (error) {
      return misbehaved('supportedProtocolVersions', `threw: ${messageOf(error)}`);
    }
  }

  /** `text` is the JSON of `message`; the message is asked for only when the transport encodes by itself. */
  async send(text: string, message: () => WireMessage, options: SendOptions = {}): Promise<TransportOutcome<void>> {
    if (this.#phase !== 'open') return { ok: false, fault: CLOSED };
    const encoded = this.#encode(text, message);
    if (!encoded.ok) return encoded;
    try {
      return readOutcome('sendMessage', await this.#transport.sendMessage(encoded.value, options)) as TransportOutcome<void>;
    } catch (error) {
      return misbehaved('sendMessage', `threw: ${messageOf(error)}`);
    }
  }

  /**
   * Ends it, within `timeout_ms` and at the latest `HURRY_MS` after `signal` aborts. Answers to what is under way are still taken
   * until it is done.
   */
  async shutdown(timeout_ms: number, signal?: AbortSignal): Promise<TransportOutcome<void>> {
    this.#phase = 'closing';
    const { clock } = this.#deps;
    const hurry = new AbortController();
    const abort = (): void => hurry.abort();
    const timer = clock.timer(timeout_ms - Math.min(HURRY_MS, timeout_ms / 4), abort);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    const shut = async () => readOutcome('shutdown', await this.#transport.shutdown({ signal: hurry.signal })) as TransportOutcome<void>;
    const outcome = await this.#within(timeout_ms, 'shutdown', shut, { signal: hurry.signal, grace_ms: HURRY_MS });
    timer.cancel();
    signal?.removeEventListener('abort', abort);
    this.#phase = 'closed';
    return outcome;
  }

  #encode(text: string, message: () => WireMessage): TransportOutcome<string> {
    if (typeof this.#transport.encode !== 'function') return { ok: true, value: text };
    try {
      const made = readOutcome('encode', this.#transport.encode(message(), this.#state));
      if (!made.ok) return made;
      const [bytes, state] = made.value as readonly [unknown, TransportState];
      if (!(bytes instanceof Uint8Array)) return misbehaved('encode', 'returned no bytes');
      this.#state = state;
      return { ok: true, value: utf8.decode(bytes) };
    } catch (error) {
      return misbehaved('encode', `threw: ${messageOf(error)}`);
    }
  }

  #receive(raw: RawMessage): void {
    if (this.#phase !== 'open' && this.#phase !== 'closing') return;
    try {
      const metadata = this.#metadata(raw);
      if (typeof this.#transport.parse !== 'function') {
        if (typeof raw === 'string' || raw instanceof Uint8Array || isObject(raw)) return this.#deps.message(raw as WireMessage, metadata);
        return this.#deps.junk(misbehaved('receive', 'was given neither bytes, text nor an object').fault);
      }
      const parsed = readOutcome('parse', this.#transport.parse(raw, this.#state));
      if (!parsed.ok) return this.#deps.junk(parsed.fault);
      const [messages, state] = parsed.value as readonly [unknown, TransportState];
      if (!Array.isArray(messages)) return this.#deps.junk(misbehaved('parse', 'returned no list of messages').fault);
      this.#state = state;
      for (const message of messages as readonly unknown[]) {
        if (isObject(message)) this.#deps.message(message, metadata);
        else this.#deps.junk(misbehaved('parse', 'returned a message that is not an object').fault);
      }
    } catch (error) {
      this.#deps.junk(misbehaved('parse', `threw: ${messageOf(error)}`).fault);
    }
  }

  #metadata(raw: unknown): Readonly<Record<string, unknown>> {
    if (typeof this.#transport.extractMetadata !== 'function') return NONE;
    const metadata: unknown = this.#transport.extractMetadata(raw, this.#state);
    return isObject(metadata) ? metadata : NONE;
  }

  #closed(fault: TransportFault): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'closed';
    this.#deps.closed(fault);
  }

  /** Runs a callback that could hang or throw: for at most `timeout_ms`, and `grace_ms` once the signal aborts. */
  async #within(
    timeout_ms: number,
    callback: string,
    run: () => Promise<TransportOutcome<unknown>>,
    { signal, grace_ms }: { readonly signal: AbortSignal | undefined; readonly grace_ms: number },
  ): Promise<TransportOutcome<void>> {
    const { clock } = this.#deps;
    let late: () => void = () => undefined;
    let hurry: () => void = () => undefined;
    let hurried: Timer | undefined;
    const timeout = new Promise<TransportOutcome<void>>((resolve) => {
      const message = `the transport's ${callback} took more than ${timeout_ms} ms`;
      late = () => resolve({ ok: false, fault: { code: 'TIMEOUT', message } });
      const cancelled = () => resolve({ ok: false, fault: { code: 'CANCELLED', message: `the transport's ${callback} was cancelled` } });
      hurry = () => void (hurried = clock.timer(grace_ms, cancelled));
    });
    const timer = clock.timer(timeout_ms, late);
    signal?.addEventListener('abort', hurry, { once: true });
    if (signal?.aborted === true) hurry();
    const done = run().then(
      (outcome) => (outcome.ok ? DONE : outcome),
      (error: unknown): TransportOutcome<void> => ({
        ok: false,
        fault: isFault(error) ? error : { code: 'UNREACHABLE', message: messageOf(error) },
      }),
    );
    const outcome = await Promise.race([done, timeout]);
    timer.cancel();
    hurried?.cancel();
    signal?.removeEventListener('abort', hurry);
    return outcome;
  }
}

/** Time left to a transport after the wait for its shutdown. */
const HURRY_MS = 1000;

const NONE: Readonly<Record<string, unknown>> = Object.freeze({});
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toFault(fault: unknown): TransportFault {
  return isFault(fault) ? fault : { code: 'ENDED', message: 'the transport ended' };
}
