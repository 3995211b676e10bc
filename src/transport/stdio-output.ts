import type { Writable } from 'node:stream';
import type { Claims } from '../contract/claims.js';
import type { Clock, Timer } from '../contract/clock.js';
import type { RequestHead } from '../contract/head.js';
import { isModern, isServed, nameField } from '../dialect/methods.js';
import type { Envelope } from '../wire/scan.js';

const BARE = {
  method: '',
  path: '',
  query: '',
  headers: { get: () => undefined, all: () => [], raw: [] },
  peer: { address: '', trusted: false, client_address: '', tls: undefined },
  received_at_ms: 0,
} as const;

/** Why nothing more can be written. */
export type OutputEnd = 'output_closed' | 'write_timeout';

export interface StdioOutputOptions {
  readonly clock: Clock;
  /** A write that the reader has not taken after so long is the last one. */
  readonly write_timeout_ms: number;
  /** The reader caught up. */
  readonly drained: () => void;
  /** Told once. Nothing is written from then on. */
  readonly failed: (end: OutputEnd) => void;
}

/** Messages on their way out: one whole line of ASCII each, so that the bytes mean the same whatever the encoding of the device. */
export class StdioOutput {
  readonly #output: Writable;
  readonly #options: StdioOutputOptions;
  #pending = 0;
  #moved_ms = 0;
  #timer: Timer | undefined;
  #flushed: (() => void) | undefined;
  #over = false;

  constructor(output: Writable, options: StdioOutputOptions) {
    this.#output = output;
    this.#options = options;
    output.on('error', this.#closed).on('close', this.#closed).on('drain', this.#drained);
  }

  /** True while the reader is behind. */
  get blocked(): boolean {
    return this.#output.writableNeedDrain;
  }

  /** Queues one message, JSON text. False: the reader is behind, or gone. */
  write(json: string): boolean {
    if (this.#over) return false;
    if (this.#pending++ === 0) this.#watch();
    return this.#output.write(`${toAscii(json)}\n`, (error) => this.#written(error));
  }

  /** Resolves when all that was queued is written, or never will be. */
  flushed(): Promise<void> {
    if (this.#pending === 0 || this.#over) return Promise.resolve();
    return new Promise((resolve) => (this.#flushed = resolve));
  }

  /** Lets go of the stream; it stays open. */
  release(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#output.off('close', this.#closed).off('drain', this.#drained);
    this.#flushed?.();
  }

  readonly #drained = (): void => this.#options.drained();

  readonly #closed = (): void => this.#fail('output_closed');

  #written(error: Error | null | undefined): void {
    this.#pending--;
    this.#moved_ms = this.#options.clock.mono_ms();
    if (error) this.#fail('output_closed');
    else if (this.#pending === 0) this.#flushed?.();
  }

  /** One timer at a time, set again only when it fires: a write costs none. */
  #watch(): void {
    this.#moved_ms = this.#options.clock.mono_ms();
    this.#timer ??= this.#options.clock.timer(this.#options.write_timeout_ms, () => this.#check());
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#pending === 0 || this.#over) return;
    const left_ms = this.#moved_ms + this.#options.write_timeout_ms - this.#options.clock.mono_ms();
    if (left_ms <= 0) this.#fail('write_timeout');
    else this.#timer = this.#options.clock.timer(Math.ceil(left_ms), () => this.#check());
  }

  #fail(end: OutputEnd): void {
    if (this.#over) return;
    this.release();
    this.#options.failed(end);
  }
}

/** JSON text in ASCII, on one line. Line breaks stand only between the tokens of a JSON text, where a space means the same. */
export function toAscii(json: string): string {
  return PLAIN.test(json) ? json : json.replace(OTHER, (unit) => (unit === '\n' || unit === '\r' ? ' ' : toEscape(unit)));
}

const PLAIN = /^[\x20-\x7e]*$/;
const OTHER = /[\n\r\x7f-\uffff]/g;

function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * What a message on a line claims. The body is all there is: a modern one says so in `_meta` (MCP 2026-07-28 stdio, "Request
 * Metadata"), any other is of the revision that `initialize` agreed on.
 */
export function claimsOf({ method, meta, name, uri, taskId }: Envelope, agreed: string): Claims {
  const declared = meta.protocol_version;
  if (declared === undefined || (isServed(declared) && !isModern(declared)))
    return { era: 'legacy', revision: agreed, declared: false, method: undefined, name: undefined };
  const field = nameField(method);
  return {
    era: 'modern',
    revision: declared,
    declared: true,
    method,
    name: field === undefined ? undefined : { name, uri, taskId }[field],
  };
}

/** The head of a message that has none. */
export function bareHead(id: string, claims: Claims): RequestHead {
  return { ...BARE, id, claims };
}
