import type { ErrorCode } from '../../errors/codes.js';
import type { Pipe, PipeEnd } from '../../transport/process-handle.js';
import { withoutBom } from '../../wire/bytes.js';
import { isId } from '../../wire/id.js';
import type { LongLine } from '../../wire/line.js';
import { errorObject, errorResponseText, notificationText, resultText } from '../../wire/rpc.js';
import type { Envelope } from '../../wire/scan.js';
import { type Response, readIncoming } from './incoming.js';

/** One request that the peer has not answered. Exactly one of `answered` and `lost` is called, and then nothing more. */
export interface PendingRequest {
  answered(line: Uint8Array, response: Response): void;
  /** Progress, or an event of a subscription, that names this request. */
  noticed(line: Uint8Array, kind: 'progress' | 'event'): void;
  /** Any other notification that came in the exchange of this request, where requests have exchanges of their own. Absent: the audience gets it. */
  said?(line: Uint8Array, envelope: Envelope): void;
  lost(code: ErrorCode): void;
}

/** Receives the peer's requests and notifications. Every request gets an answer, whatever its method. */
export interface Audience {
  /** `about`: it came in the exchange of this request of ours, where requests have exchanges of their own. */
  request(line: Uint8Array, envelope: Envelope, about?: number): void;
  notification(line: Uint8Array, envelope: Envelope, about?: number): void;
}

/** Why a line of a peer was dropped. A closed set: it is a metric label. */
export type JunkReason = 'no_message' | 'too_long' | 'unknown_id' | 'late' | 'unheard';

export interface PeerOptions {
  /** Requests that may wait for an answer. One more is refused. */
  readonly max_pending: number;
  junk(reason: JunkReason): void;
  /** A request of the peer was refused. */
  refused(method: string): void;
  /** The peer is gone, and every waiting request was told. */
  ended(end: PipeEnd): void;
}

/**
 * One peer behind a pipe, shared by many callers. Requests get our own ids, so that no caller sees another's answer, and are answered
 * exactly once: by the peer, or by its end. Answers without a request are counted and dropped.
 */
export class Peer {
  audience: Audience | undefined;
  readonly #pipe: Pipe;
  readonly #options: PeerOptions;
  readonly #waiting = new Map<string, PendingRequest>();
  #next = 1;
  #spoke = false;
  #closed = false;

  constructor(pipe: Pipe, options: PeerOptions) {
    this.#pipe = pipe;
    this.#options = options;
    pipe.onMessage = (line, about) => this.#message(line, about);
    pipe.onTooLong = (line, ended) => this.#tooLong(line, ended);
    pipe.onClose = (end) => this.#end(end);
    pipe.onFailed = (id, code) => this.#take(id)?.lost(code);
  }

  get pending(): number {
    return this.#waiting.size;
  }

  /** True once the peer has answered anything. */
  get spoke(): boolean {
    return this.#spoke;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Takes a request in; returns what the peer will call it. Undefined: too many wait, or the peer is gone. */
  open(waiting: PendingRequest): number | undefined {
    if (this.#closed || this.#waiting.size >= this.#options.max_pending) return undefined;
    const id = this.#next++;
    this.#waiting.set(String(id), waiting);
    return id;
  }

  /** The request waits no more; a late answer to it is dropped. */
  forget(id: number): void {
    this.#waiting.delete(String(id));
    this.#pipe.forget?.(String(id));
  }

  /** False: the pipe takes no more. `fields`: as in `Pipe`. */
  send(line: Uint8Array, fields?: readonly string[]): boolean {
    return !this.#closed && this.#pipe.send(line, fields);
  }

  /** Sends JSON text of our own. */
  say(json: string): boolean {
    return this.send(Buffer.from(json));
  }

  /** `params` is JSON text. */
  notify(method: string, params?: string): void {
    this.say(notificationText(method, params));
  }

  /**
   * Answers a request of the peer that has no client: `ping` with an empty result (MCP 2025-11-25, Ping), all else with
   * `code`. A server may ask at any moment, during the handshake too, and wait for the answer before it goes on.
   */
  refuse({ id, method }: Envelope, why: string, code = -32601): void {
    if (method === 'ping') return void this.say(resultText(id as string, '{}'));
    this.#options.refused(method);
    this.say(errorResponseText(id, errorObject(code, why)));
  }

  /** Ends the pipe; pending calls fail with `code`. */
  close(code: ErrorCode): void {
    if (this.#closed) return;
    this.#pipe.close();
    this.#lose(code);
  }

  #message(raw: Uint8Array, about?: string): void {
    const line = withoutBom(raw);
    if (this.#closed || line.length === 0) return;
    const message = readIncoming(line);
    switch (message.kind) {
      case 'response':
        return this.#answer(line, message);
      case 'progress':
      case 'event': {
        const waiting = this.#waiting.get(toOurs(message.id));
        if (waiting === undefined) this.#options.junk(this.#was(message.id) ? 'late' : 'unknown_id');
        else waiting.noticed(line, message.kind);
        return;
      }
      case 'junk':
        this.#options.junk('no_message');
        if (message.asks !== undefined) this.#invalid(message.asks, 'The request is not valid.');
        return this.#broken(message.id);
      default: {
        const asker = message.kind === 'notification' && about !== undefined ? this.#waiting.get(about) : undefined;
        if (asker?.said !== undefined) return asker.said(line, message.envelope);
        if (this.audience !== undefined)
          this.audience[message.kind](line, message.envelope, about === undefined ? undefined : Number(about));
        else if (message.kind === 'request') this.refuse(message.envelope, 'This client has no such method.');
        else this.#options.junk('unheard');
      }
    }
  }

  #answer(line: Uint8Array, response: Response): void {
    const waiting = this.#take(response.id);
    if (waiting === undefined) return this.#options.junk(this.#was(response.id) ? 'late' : 'unknown_id');
    this.#spoke = true;
    waiting.answered(line, response);
  }

  /** An answer ends its call as soon as its id is known; a request is refused. */
  #tooLong({ answer: { kind, id } }: LongLine, ended: boolean): void {
    if (this.#closed) return;
    if (ended) this.#options.junk('too_long');
    if (kind === 'response') this.#broken(id);
    else if (ended && kind === 'request' && id !== undefined && isId(id)) this.#invalid(id, 'The request is too long.');
  }

  #invalid(id: string, message: string): void {
    this.say(errorResponseText(id, errorObject(-32600, message)));
  }

  /** What was meant to answer this request cannot be used. */
  #broken(id: string | undefined): void {
    if (id !== undefined) this.#take(id)?.lost('UPSTREAM_BROKEN');
  }

  #take(id: string): PendingRequest | undefined {
    const ours = toOurs(id);
    const waiting = this.#waiting.get(ours);
    this.#waiting.delete(ours);
    return waiting;
  }

  /** True for an id that was once given out. */
  #was(id: string): boolean {
    const ours = toOurs(id);
    return /^[1-9][0-9]{0,14}$/.test(ours) && Number(ours) < this.#next;
  }

  #end(end: PipeEnd): void {
    if (this.#closed) return;
    this.#lose('UPSTREAM_ENDED');
    this.#options.ended(end);
  }

  #lose(code: ErrorCode): void {
    this.#closed = true;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const request of waiting) request.lost(code);
  }
}

/** Ids of ours are integers. Some servers answer with a string of the same digits. */
function toOurs(id: string): string {
  return id.charCodeAt(0) === QUOTE ? (SPELT.exec(id)?.[1] ?? id) : id;
}

const QUOTE = 0x22;
const SPELT = /^"([1-9][0-9]{0,14})"$/;
