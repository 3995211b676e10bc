import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange, HeaderList } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { Launched } from '../../transport/launched.js';
import { sameId } from '../../wire/probe.js';
import type { Envelope } from '../../wire/scan.js';
import { toRaw } from '../../wire/text.js';
import type { ToolsLearner } from '../tools-learner.js';
import { memberAt } from './locate.js';
import { toPeer } from './outgoing.js';
import type { Audience, Peer } from './peer.js';
import { PeerCall } from './peer-call.js';
import { SessionStream } from './session-stream.js';
import { toLine } from './splice.js';
import { tellAsIs } from './teller.js';

export interface SessionParts {
  readonly clock: Clock;
  readonly tools: ToolsLearner;
  /** JSON text of who calls, for a route that tells the server. */
  identityOf(call: Call): string | undefined;
}

/** One legacy client and the peer that it has for itself. Owns both halves: the peer, and the client's GET stream. */
export class LegacySession implements Audience {
  /** Who may use it, for the caps. */
  readonly caller: string;
  readonly #peer: Peer;
  readonly #launched: Launched;
  readonly #parts: SessionParts;
  readonly #calls = new Set<PeerCall>();
  /** Requests of the peer that the client has not answered: raw id, and when they came. */
  readonly #asked = new Map<string, number>();
  readonly #stream = new SessionStream();
  #used_ms: number;
  #over = false;

  constructor(caller: string, peer: Peer, launched: Launched, parts: SessionParts) {
    this.caller = caller;
    this.#peer = peer;
    this.#launched = launched;
    this.#parts = parts;
    this.#used_ms = parts.clock.mono_ms();
    peer.audience = this;
  }

  /** When the client last did something. An open stream is nothing: the client may be long gone. */
  get used_ms(): number {
    return this.#used_ms;
  }

  /** True while no call runs. */
  get idle(): boolean {
    return this.#calls.size === 0;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Forwards the handshake. `settled` says what becomes of the session. */
  initialize(call: Call, exchange: Exchange, settled: (answered: 'ok' | 'error' | 'not') => HeaderList): void {
    this.#run(call, exchange, settled);
  }

  handle(call: Call, exchange: Exchange): void {
    this.#used_ms = this.#parts.clock.mono_ms();
    switch (call.kind) {
      case 'request':
        return this.#run(call, exchange);
      case 'notification':
        return this.#notify(call, exchange);
      case 'response':
        return this.#respond(call, exchange);
      default:
        return this.#stream.attach(exchange);
    }
  }

  request(line: Uint8Array, { id, method }: Envelope): void {
    const raw = id as string;
    if (method === 'ping') return void this.#peer.say(`{"jsonrpc":"2.0","id":${raw},"result":{}}`);
    if (this.#asked.size >= MAX_ASKED || this.#asked.has(raw) || !this.#ask(line)) return this.#refuse(raw);
    this.#asked.set(raw, this.#parts.clock.mono_ms());
  }

  notification(line: Uint8Array, { method }: Envelope): void {
    if (method === 'notifications/cancelled') {
      const id = memberAt(line, 'params', 'requestId');
      const known = id === undefined ? undefined : this.#known(toRaw(line, id.value, id.to));
      if (known !== undefined) this.#asked.delete(known);
    }
    this.#stream.push(line);
  }

  /** Called now and then: whoever is asked something gives the calls that wait for it more time, and a question gets old. */
  tick(now_ms: number): void {
    if (this.#asked.size === 0) return;
    for (const call of this.#calls) call.patience();
    for (const [id, since_ms] of this.#asked) {
      if (now_ms - since_ms < MAX_ASKED_MS) continue;
      this.#asked.delete(id);
      this.#refuse(id);
    }
  }

  /** Ends the peer, the stream and what still waits. */
  end(grace_ms: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#stream.end();
    this.#peer.close('SESSION_NOT_FOUND');
    void this.#launched.stop(grace_ms);
  }

  #run(call: Call, exchange: Exchange, settled?: (answered: 'ok' | 'error' | 'not') => HeaderList): void {
    const own = new PeerCall(call, exchange, {
      tell: tellAsIs,
      tools: this.#parts.tools,
      identity: this.#parts.identityOf(call),
      settled: (answered) => {
        this.#calls.delete(own);
        this.#used_ms = this.#parts.clock.mono_ms();
        return settled?.(answered) ?? [];
      },
    });
    this.#calls.add(own);
    own.start(this.#peer);
  }

  #notify(call: Call, exchange: Exchange): void {
    const cancelled = call.method === 'notifications/cancelled' ? this.#cancelled(call.body) : undefined;
    if (call.method === 'notifications/cancelled' && cancelled === undefined) return exchange.accept();
    const request_id = cancelled === undefined ? undefined : String(cancelled.peer_id);
    if (!this.#peer.send(toPeer(call.body, { request_id }))) return exchange.fail(new GatewayError('OVERLOADED'));
    cancelled?.withdraw();
    exchange.accept();
  }

  /** The running call that a client's cancellation means. */
  #cancelled(body: Uint8Array): PeerCall | undefined {
    const member = memberAt(body, 'params', 'requestId');
    const id = member === undefined ? undefined : toRaw(body, member.value, member.to);
    for (const call of this.#calls) if (sameId(call.call.id, id) && call.call.method !== 'initialize') return call;
    return undefined;
  }

  /** A client's answer to the peer. One that answers nothing is dropped. */
  #respond(call: Call, exchange: Exchange): void {
    const id = this.#known(call.id);
    if (id !== undefined) {
      this.#asked.delete(id);
      if (!this.#peer.send(toLine(Uint8Array.from(call.body)))) return exchange.fail(new GatewayError('OVERLOADED'));
    }
    exchange.accept();
  }

  #known(id: string | undefined): string | undefined {
    if (id === undefined || this.#asked.has(id)) return id;
    for (const asked of this.#asked.keys()) if (sameId(asked, id)) return asked;
    return undefined;
  }

  /** The only call that runs is what the question is about; else the client's own stream takes it, or the call that came last. */
  #ask(line: Uint8Array): boolean {
    const carrying = [...this.#calls].filter((call) => call.carries);
    if (carrying.length === 1 && carrying[0]?.carry(line) === true) return true;
    if (!this.#stream.open && carrying.at(-1)?.carry(line) === true) return true;
    return this.#stream.push(line);
  }

  #refuse(id: string): void {
    this.#peer.say(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"The client could not be asked."}}`);
  }
}

const MAX_ASKED = 256;
const MAX_ASKED_MS = 300_000;
