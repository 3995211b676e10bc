import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange, HeaderList } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { ProcessHandle } from '../../transport/process-handle.js';
import { memberAt, toLine } from '../../wire/edit.js';
import type { Envelope } from '../../wire/scan.js';
import { sameId } from '../../wire/summary.js';
import { toRaw } from '../../wire/text.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { ClientHandshake } from './client-handshake.js';
import { toPeer } from './outgoing.js';
import type { Audience, Peer } from './peer.js';
import { type CallSettled, PeerCall } from './peer-call.js';
import { tellAsIs } from './reply-mapper.js';
import { SessionStream } from './session-stream.js';

export interface SessionParts {
  readonly clock: Clock;
  readonly tools: ToolsLearner;
  /** JSON text of who calls, for a route that tells the server. */
  identityOf(call: Call): string | undefined;
  /** Header fields that go with a message, where messages have any. */
  fieldsOf?(call: Call): readonly string[];
}

/** One legacy client and the peer that it has for itself. Owns both halves: the peer, and the client's GET stream. */
export class LegacySession implements Audience {
  /** Who may use it, for the caps. */
  readonly caller: string;
  readonly #peer: Peer;
  readonly #launched: Pick<ProcessHandle, 'stop'>;
  readonly #parts: SessionParts;
  readonly #calls = new Set<PeerCall>();
  /** Requests of the peer that the client has not answered, by raw id. `held`: it went to the client's own stream. */
  readonly #asked = new Map<
    string,
    { readonly line: Uint8Array; readonly envelope: Envelope; readonly since_ms: number; readonly held: boolean }
  >();
  readonly #stream = new SessionStream();
  #handshake: ClientHandshake | undefined;
  #used_ms: number;
  #over = false;

  constructor(caller: string, peer: Peer, launched: Pick<ProcessHandle, 'stop'>, parts: SessionParts) {
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

  /** Forwards the client's handshake, or lets this call wait for the answer to the one that was sent. `settled` runs as that of a call. */
  initialize(call: Call, exchange: Exchange, settled: (how: CallSettled) => HeaderList): void {
    const begun = this.#handshake !== undefined;
    this.#handshake ??= new ClientHandshake();
    const handshake = this.#handshake;
    const own = this.#open(call, exchange, (how) => {
      handshake.release();
      return settled(how);
    });
    const error = begun ? undefined : handshake.send(this.#peer, call, this.#parts.identityOf(call));
    if (error === undefined) handshake.attach(own);
    else own.lost(error);
  }

  /** Its client left before the server had answered the handshake: another may take it over. */
  get orphaned(): boolean {
    return this.#handshake?.free === true;
  }

  /** The server has answered the handshake. */
  get started(): boolean {
    return this.#handshake?.answered_once === true;
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

  request(line: Uint8Array, envelope: Envelope): void {
    const raw = envelope.id as string;
    // Before its handshake is answered the client has no session to answer in.
    if (envelope.method === 'ping' || !this.started) return this.#peer.refuse(envelope, 'The client has not been introduced yet.');
    if (this.#asked.size >= MAX_ASKED || this.#asked.has(raw)) return this.#refuse(envelope);
    const way = this.#ask(line);
    if (way === undefined) return this.#refuse(envelope);
    this.#asked.set(raw, { line, envelope, since_ms: this.#parts.clock.mono_ms(), held: way === 'held' });
  }

  /** A log message belongs to the only running call; other notifications go to the client's own stream. */
  notification(line: Uint8Array, { method }: Envelope): void {
    if (method === 'notifications/cancelled') {
      const id = memberAt(line, 'params', 'requestId');
      const known = id === undefined ? undefined : this.#known(toRaw(line, id.value, id.to));
      if (known !== undefined) this.#asked.delete(known);
    }
    if ((method === 'notifications/message' || method === 'notifications/cancelled') && this.#only?.carryLog(line) === true) return;
    this.#stream.push(line);
  }

  /** Called periodically: a pending question extends the calls that wait for it, and expires. */
  tick(now_ms: number): void {
    if (this.#asked.size === 0) return;
    for (const call of this.#calls) call.patience();
    for (const [id, { line, envelope, since_ms, held }] of this.#asked) {
      const unheard = held && this.#stream.holds(line);
      if (now_ms - since_ms < (unheard ? MAX_UNHEARD_MS : MAX_ASKED_MS)) continue;
      if (unheard) this.#stream.drop(line);
      this.#asked.delete(id);
      this.#refuse(envelope);
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

  #run(call: Call, exchange: Exchange): void {
    this.#open(call, exchange).start(this.#peer);
  }

  #open(call: Call, exchange: Exchange, settled?: (how: CallSettled) => HeaderList): PeerCall {
    const own = new PeerCall(call, exchange, {
      tell: tellAsIs,
      tools: this.#parts.tools,
      identity: this.#parts.identityOf(call),
      fields: this.#parts.fieldsOf?.(call),
      settled: (how) => {
        this.#calls.delete(own);
        this.#used_ms = this.#parts.clock.mono_ms();
        return settled?.(how) ?? [];
      },
    });
    this.#calls.add(own);
    return own;
  }

  #notify(call: Call, exchange: Exchange): void {
    const cancelled = call.method === 'notifications/cancelled' ? this.#cancelled(call.body) : undefined;
    if (call.method === 'notifications/cancelled' && cancelled === undefined) return exchange.accept();
    const request_id = cancelled === undefined ? undefined : String(cancelled.peer_id);
    if (!this.#peer.send(toPeer(call.body, { request_id }), this.#parts.fieldsOf?.(call)))
      return exchange.fail(new GatewayError('OVERLOADED'));
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
      if (!this.#peer.send(toLine(Uint8Array.from(call.body)), this.#parts.fieldsOf?.(call)))
        return exchange.fail(new GatewayError('OVERLOADED'));
    }
    exchange.accept();
  }

  #known(id: string | undefined): string | undefined {
    if (id === undefined || this.#asked.has(id)) return id;
    for (const asked of this.#asked.keys()) if (sameId(asked, id)) return asked;
    return undefined;
  }

  /** The call that a message without an address is about: the only one that runs and takes events. */
  get #only(): PeerCall | undefined {
    const carrying = [...this.#calls].filter((call) => call.carries);
    return carrying.length === 1 ? carrying[0] : undefined;
  }

  /** The only running call gets the question; else the client's own stream, or the newest call. */
  #ask(line: Uint8Array): 'asked' | 'held' | undefined {
    if (this.#only?.carry(line) === true) return 'asked';
    const last = [...this.#calls].findLast((call) => call.carries);
    if (!this.#stream.open && last?.carry(line) === true) return 'asked';
    return this.#stream.push(line) ? 'held' : undefined;
  }

  #refuse(envelope: Envelope): void {
    this.#peer.refuse(envelope, 'The client could not be asked.', -32603);
  }
}

const MAX_ASKED = 256;
const MAX_ASKED_MS = 300_000;
/** How long a question waits for a client that has no stream open. */
const MAX_UNHEARD_MS = 10_000;
