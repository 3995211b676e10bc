import type { Clock, Timer } from '../../contract/clock.js';
import type { ClientCapabilities, InputRequest } from '../../contract/handler.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import type { QuestionOutcome } from '../../contract/telemetry.js';
import { isDeclined, missingCapabilities } from '../../core/call/rounds.js';
import type { ErrorCode } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import { isObjectAt, memberAt, memberOf, membersOf } from '../../wire/edit.js';
import { errorObject, errorResponseText, resultText } from '../../wire/rpc.js';
import type { Envelope } from '../../wire/scan.js';
import { skipSpace } from '../../wire/skip.js';
import { sameId } from '../../wire/summary.js';
import { toRaw } from '../../wire/text.js';
import type { HeldCalls, HeldEnd, Holdable } from './held-calls.js';
import type { Response } from './incoming.js';
import { toPeer } from './outgoing.js';
import type { Peer, PendingRequest } from './peer.js';
import { PeerCall, type PeerCallOptions } from './peer-call.js';

export interface HeldCallDeps {
  readonly clock: Clock;
  readonly held: HeldCalls<HeldCall>;
  /** For each client that the call gets. */
  readonly options: Omit<PeerCallOptions, 'settled' | 'again'>;
  again(): boolean;
  /** The client has answered `roots/list` with this result, JSON text. */
  rooted(result: string): void;
  /** The call is over. */
  over(): void;
}

/** A question of the server that its client has not answered. */
interface Question {
  /** As the server named it, raw JSON text. */
  readonly id: string;
  /** Method and params for the client, JSON text. */
  readonly text: string;
  readonly method: string;
}

/**
 * A modern call of a legacy server that may ask its client something in the middle. To be asked the client gets a result `input_required`, and the call goes on
 * without it; the client's next request answers, and gets what the call came to, or further questions (MCP 2026-07-28, Multi Round-Trip Requests). The
 * server sees one call.
 */
export class HeldCall implements PendingRequest, Holdable {
  name: string | undefined;
  round = 0;
  readonly #peer: Peer;
  readonly #deps: HeldCallDeps;
  readonly #capabilities: ClientCapabilities;
  readonly #questions = new Map<string, Question>();
  #asked = 0;
  #id: number | undefined;
  #front: PeerCall | undefined;
  #call: Call;
  /** What came while nobody waited. */
  #kept: ((front: PeerCall) => void) | undefined;
  #timer: Timer | undefined;
  #over = false;

  constructor(peer: Peer, call: Call, exchange: Exchange, capabilities: ClientCapabilities, deps: HeldCallDeps) {
    this.#peer = peer;
    this.#deps = deps;
    this.#capabilities = capabilities;
    this.#call = call;
    this.#attach(call, exchange);
  }

  get call(): Call {
    return this.#call;
  }

  get peer_id(): number | undefined {
    return this.#id;
  }

  /** The server has it and has not ended it, so it may ask; a client may wait for it or not. */
  get may_ask(): boolean {
    return this.#id !== undefined && this.#kept === undefined;
  }

  start(): void {
    const { drops, without, identity, fields } = this.#deps.options;
    const id = this.#peer.open(this);
    if (id === undefined) return this.lost(this.#peer.closed ? 'UPSTREAM_ENDED' : 'OVERLOADED');
    this.#id = id;
    const line = toPeer(this.#call.body, { id, drops, without, identity });
    if (!this.#peer.send(line, fields) && !this.#over) this.lost('OVERLOADED');
  }

  answered(line: Uint8Array, response: Response): void {
    // The bytes are a view of what came with them; what is kept is a copy of their own.
    const kept = this.#front !== undefined || this.#over ? line : this.#keep(line);
    if (kept === undefined) this.lost('UPSTREAM_BROKEN');
    else this.#finish((front) => front.answered(kept, response));
  }

  noticed(line: Uint8Array, kind: 'progress' | 'event'): void {
    this.#front?.noticed(line, kind);
  }

  carryLog(line: Uint8Array): boolean {
    return this.#front?.carryLog(line) === true;
  }

  lost(code: ErrorCode): void {
    this.#finish((front) => front.lost(code));
  }

  /** The server asks the client of this call. */
  ask(line: Uint8Array, envelope: Envelope): void {
    const { id, method } = envelope;
    const question = questionOf(line, method);
    const missing = missingCapabilities(this.#capabilities, [JSON.parse(question) as InputRequest]);
    if (missing !== undefined || this.#asked >= MAX_ASKED || this.#over) {
      this.#peer.refuse(envelope, 'The client has not declared that it can be asked this.');
      this.#count(method, 'refused');
      if (missing !== undefined) this.#refuseSoon({ requiredCapabilities: missing });
      return;
    }
    if (!this.#deps.held.reserve(this, question.length)) {
      this.#peer.refuse(envelope, 'The client could not be asked.', -32603);
      return this.#count(method, 'error');
    }
    this.#asked += 1;
    this.#questions.set(`q${this.#asked}`, { id: id as string, text: question, method });
    if (this.#front !== undefined && this.#questions.size === 1) this.#timer = this.#deps.clock.timer(GATHER_MS, () => this.#hold());
  }

  /** The server no longer wants an answer to its request. */
  withdrawn(id: string): void {
    for (const [key, question] of this.#questions) if (sameId(question.id, id)) this.#questions.delete(key);
  }

  /** Answers what the client answers, and lets it wait for the call; or says what is wrong with its answers, and nothing changes. */
  resume(call: Call, exchange: Exchange): GatewayError | undefined {
    const answers = this.#answersOf(call.body);
    if (answers === undefined) {
      const detail = 'inputResponses must hold one object for each answered request; that of an elicitation has an action.';
      return new GatewayError('INVALID_ARGUMENTS', { detail });
    }
    this.#timer?.cancel();
    this.#deps.held.release(this, this.#kept === undefined ? 'answered' : 'finished');
    this.#call = call;
    this.#attach(call, exchange);
    for (const [key, text] of answers) {
      const question = this.#questions.get(key) as Question;
      this.#questions.delete(key);
      this.#count(question.method, isDeclined(text) ? 'declined' : 'answered');
      if (question.method === 'roots/list') this.#deps.rooted(text);
      this.#peer.say(resultText(question.id, text));
    }
    if (this.#kept !== undefined) this.#deliver(this.#kept);
    else if (this.#questions.size > 0) this.#hold();
    return undefined;
  }

  giveUp(reason: HeldEnd): void {
    this.#deps.held.release(this, reason);
    this.#refuseQuestions(reason === 'expired' ? 'expired' : 'error');
    this.#cancel();
  }

  #attach(call: Call, exchange: Exchange): void {
    const front: PeerCall = new PeerCall(call, exchange, {
      ...this.#deps.options,
      again: () => this.#deps.again(),
      settled: (how) => {
        if (this.#front === front && how !== 'ok' && how !== 'error') this.#cancel();
        return [];
      },
    });
    this.#front = front;
    front.follow();
  }

  /** Gives the client the open questions; the call goes on without it. */
  #hold(): void {
    const front = this.#front;
    if (front === undefined || this.#over || this.#questions.size === 0) return;
    this.round = (this.round + 1) & 0xff;
    const state = this.#deps.held.hold(this, this.#call, this.round);
    if (state === undefined) return this.#refuseQuestions('error');
    this.#front = undefined;
    this.#timer = this.#deps.clock.timer(this.#deps.held.options.hold_ttl_ms, () => this.giveUp('expired'));
    const requests = [...this.#questions].map(([key, { text }]) => `"${key}":${text}`).join(',');
    front.give(`{"resultType":"input_required","inputRequests":{${requests}},"requestState":"${state}"}`);
  }

  #keep(line: Uint8Array): Uint8Array | undefined {
    return this.#deps.held.reserve(this, line.length) ? new Uint8Array(line) : undefined;
  }

  #finish(deliver: (front: PeerCall) => void): void {
    if (this.#over) return;
    this.#questions.clear();
    if (this.#front === undefined) {
      this.#kept = deliver;
      return;
    }
    this.#deliver(deliver);
  }

  #deliver(deliver: (front: PeerCall) => void): void {
    const front = this.#front as PeerCall;
    this.#end();
    deliver(front);
  }

  #end(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#front = undefined;
    this.#deps.held.forget(this);
    this.#deps.over();
  }

  #cancel(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#id !== undefined && this.#kept === undefined) {
      this.#peer.forget(this.#id);
      this.#peer.notify('notifications/cancelled', `{"requestId":${this.#id},"reason":"The client has left."}`);
    }
    // Last, since it may end the session.
    this.#end();
  }

  #refuseQuestions(outcome: 'expired' | 'error'): void {
    for (const { id, method } of this.#questions.values()) {
      this.#peer.say(errorResponseText(id, errorObject(-32603, 'The client could not be asked.')));
      this.#count(method, outcome);
    }
    this.#questions.clear();
  }

  #count(method: string, outcome: QuestionOutcome): void {
    this.#deps.held.questioned(this.#call.route.path, method, outcome);
  }

  /** A server that does not end its call without the answer would leave the client without one. */
  #refuseSoon(data: Readonly<Record<string, unknown>>): void {
    this.#deps.clock.timer(REFUSED_MS, () => {
      const front = this.#front;
      if (this.#over || front === undefined) return;
      front.refuse('MISSING_CAPABILITY', { data });
    });
  }

  /** The answers to open questions, JSON text by key. Undefined: one has not the shape of an answer. */
  #answersOf(body: Buffer): ReadonlyMap<string, string> | undefined {
    const answers = new Map<string, string>();
    const given = memberAt(body, 'params', 'inputResponses');
    if (given === undefined) return answers;
    if (!isObjectAt(body, given.value)) return undefined;
    for (const { key, value, to } of membersOf(body, given.value)) {
      const question = this.#questions.get(key);
      if (question === undefined) continue;
      if (!isObjectAt(body, value)) return undefined;
      const action = memberOf(body, skipSpace(body, value), 'action');
      const said = action === undefined ? undefined : toRaw(body, action.value, action.to);
      if (question.method === 'elicitation/create' && !ACTIONS.has(said ?? '')) return undefined;
      answers.set(key, toRaw(body, value, to));
    }
    return answers;
  }
}

const GATHER_MS = 20;
const REFUSED_MS = 1_000;
const MAX_ASKED = 64;
const ACTIONS: ReadonlySet<string> = new Set(['"accept"', '"decline"', '"cancel"']);

/** What a modern client is asked: a question as the server put it, without what exists between a legacy server and its client only. */
function questionOf(line: Uint8Array, method: string): string {
  const params = memberAt(line, 'params');
  if (params === undefined || !isObjectAt(line, params.value)) return `{"method":"${method}"}`;
  const kept = membersOf(line, params.value).filter(({ key }) => key !== 'elicitationId' && key !== 'task' && key !== '_meta');
  return `{"method":"${method}","params":{${kept.map(({ from, to }) => toRaw(line, from, to)).join(',')}}}`;
}
