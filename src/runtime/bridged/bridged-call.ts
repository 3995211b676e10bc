import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '../../contract/clock.js';
import type { InputRequest } from '../../contract/handler.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import type { QuestionOutcome } from '../../contract/telemetry.js';
import { isDeclined, missingCapabilities } from '../../core/call/rounds.js';
import type { LegacyClient } from '../../core/client-seal.js';
import type { Answers, PendingInput, Question, Questions } from '../../core/run/questions.js';
import type { ErrorCode } from '../../errors/codes.js';
import { isObjectAt, type Member, memberAt, memberOf, membersOf } from '../../wire/edit.js';
import { errorObject, errorResponseText, notificationText } from '../../wire/rpc.js';
import type { Envelope } from '../../wire/scan.js';
import { toRaw } from '../../wire/text.js';
import type { Response } from '../peer/incoming.js';
import { isModernKey, toPeer } from '../peer/outgoing.js';
import type { Peer, PendingRequest } from '../peer/peer.js';
import { PeerCall } from '../peer/peer-call.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { legacyReplyMapper } from './reply-to-legacy.js';
import { capabilitiesIn } from './to-modern.js';

/** A way to a modern server. */
export interface ModernWay {
  readonly peer: Peer;
  /** Nothing more goes by it. */
  close(): void;
  /** The answer to this request is not wanted any more. */
  cancel(id: number): void;
}

export interface BridgedCallDeps {
  readonly clock: Clock;
  readonly questions: Questions;
  readonly tools: ToolsLearner;
  /** Header fields of the message, where it has any. */
  fieldsOf(call: Call): readonly string[];
  /** JSON text of who calls, where messages tell it. */
  identityOf(call: Call): string | undefined;
  /** Has the schemas of the tools read again, for a server that says that the fields do not fit them. */
  relist(call: Call, told: () => void): void;
  /** A question of the server came to its end. */
  questioned(call: Call, method: string, outcome: QuestionOutcome): void;
  /** Another way to the client of this call than its own answer; false: there is none. */
  elsewhere(message: Uint8Array): boolean;
  /** The call is over. */
  over(): void;
}

/**
 * A legacy client's call on a modern server. Metadata and header fields are made for it, its answer is told in the client's revision, and
 * what the server wants to know first (MCP 2026-07-28, Multi Round-Trip Requests) is asked of the client by requests on the call's own stream; then the
 * call is sent again with the answers.
 */
export class BridgedCall implements PendingRequest {
  readonly call: Call;
  readonly #way: ModernWay;
  readonly #exchange: Exchange;
  readonly #client: LegacyClient;
  readonly #meta: string;
  readonly #deps: BridgedCallDeps;
  readonly #front: PeerCall;
  #id: number | undefined;
  #rounds = 0;
  #pause_ms = FIRST_PAUSE_MS;
  #timer: Timer | undefined;
  #input: PendingInput | undefined;
  #resent = false;
  /** Elicitations by URL that are open. */
  readonly #visited: string[] = [];
  #over = false;

  /** `meta`: members of `params._meta` that a modern request has, JSON text without braces. */
  constructor(way: ModernWay, call: Call, exchange: Exchange, client: LegacyClient, meta: string, deps: BridgedCallDeps) {
    this.call = call;
    this.#way = way;
    this.#exchange = exchange;
    this.#client = client;
    this.#meta = meta;
    this.#deps = deps;
    this.#front = new PeerCall(call, exchange, {
      tell: legacyReplyMapper(client.revision),
      tools: deps.tools,
      bridged: 'to_modern',
      settled: () => {
        this.#end();
        return [];
      },
    });
  }

  start(): void {
    this.#front.follow();
    this.#send(undefined);
  }

  answered(line: Uint8Array, response: Response): void {
    if (this.#over) return;
    this.#id = undefined;
    if (response.rpc_code === HEADERS_DIFFER && !this.#resent && this.call.method === 'tools/call') {
      this.#resent = true;
      return this.#deps.relist(this.call, () => this.#send(undefined));
    }
    const type = memberAt(line, 'result', 'resultType');
    const said = type === undefined ? COMPLETE : toRaw(line, type.value, type.to);
    if (said === '"input_required"') return this.#ask(line);
    if (said !== COMPLETE) return this.lost('UPSTREAM_BROKEN');
    for (const id of this.#visited)
      this.#front.carry(Buffer.from(notificationText('notifications/elicitation/complete', `{"elicitationId":"${id}"}`)));
    this.#front.answered(line, response);
  }

  noticed(line: Uint8Array, kind: 'progress' | 'event'): void {
    if (kind === 'progress') this.#front.noticed(line, kind);
  }

  lost(code: ErrorCode): void {
    this.#id = undefined;
    this.#front.lost(code);
  }

  said(line: Uint8Array, { method }: Envelope): void {
    if (method === 'notifications/message') this.#front.carryLog(line);
  }

  /** Its client has cancelled it by a message. */
  withdraw(): void {
    this.#front.withdraw();
  }

  /** Its session is over: the client gets the end of its stream, and the server hears nothing more than that nobody reads. */
  end(): void {
    this.#front.refuse('SESSION_NOT_FOUND', {});
  }

  /** `params`: members for the params of a further round, JSON text without braces. */
  #send(params: string | undefined): void {
    if (this.#over) return;
    const { peer } = this.#way;
    const id = peer.open(this);
    if (id === undefined) return this.lost(peer.closed ? 'UPSTREAM_ENDED' : 'OVERLOADED');
    this.#id = id;
    const line = toPeer(this.call.body, {
      id,
      drops: isModernKey,
      without: FOREIGN,
      meta: this.#meta,
      params,
      identity: this.#deps.identityOf(this.call),
    });
    if (!peer.send(line, this.#deps.fieldsOf(this.call)) && !this.#over) this.lost('OVERLOADED');
  }

  #ask(line: Uint8Array): void {
    this.#rounds += 1;
    const requests = memberAt(line, 'result', 'inputRequests');
    const given = memberAt(line, 'result', 'requestState');
    const state = given === undefined ? '' : `,"requestState":${toRaw(line, given.value, given.to)}`;
    const questions = requests === undefined ? [] : this.#questionsOf(line, requests);
    if (this.#rounds > MAX_ROUNDS) return this.#front.refuse('TOO_MANY_ROUNDS', {});
    if (questions === undefined || (questions.length === 0 && state === '')) return this.lost('UPSTREAM_BROKEN');
    if (questions.length === 0) return this.#later(state.slice(1));
    const input = this.#deps.questions.ask(questions, {
      identity: this.call.identity,
      send: (json) => this.#tell(Buffer.from(json)),
      questioned: () => this.#exchange.inputRequested(),
      instead: ({ method }) => (method === 'elicitation/create' ? '{"action":"cancel"}' : undefined),
    });
    if (input === undefined) return this.#front.refuse('OVERLOADED', {});
    if (this.#over) return input.abandon();
    this.#input = input;
    input.answers.then(
      (answers) => this.#told(questions, answers, state),
      () => undefined,
    );
  }

  #told(questions: readonly Question[], answers: Answers, state: string): void {
    this.#input = undefined;
    if (this.#over) return;
    for (const { key, method } of questions) {
      const said = answers.kind === 'answered' ? answers.responses.get(key) : undefined;
      this.#deps.questioned(this.call, method, said === undefined ? 'error' : isDeclined(said) ? 'declined' : 'answered');
    }
    if (answers.kind === 'answered') {
      const responses = [...answers.responses].map(([key, result]) => `${JSON.stringify(key)}:${result}`);
      return this.#send(`"inputResponses":{${responses.join(',')}}${state}`);
    }
    const said = answers.message === undefined ? '' : ` It said: ${answers.message}`;
    const error = errorObject(-32603, `The client answered ${answers.question.method} with an error.${said}`);
    const line = Buffer.from(errorResponseText(this.call.id, error));
    this.#front.answered(line, { kind: 'response', id: this.call.id as string, outcome: 'rpc_error', rpc_code: -32603 });
  }

  /** The server only wants to be asked again. */
  #later(params: string): void {
    this.#timer = this.#deps.clock.timer(this.#pause_ms, () => this.#send(params));
    this.#pause_ms = Math.min(2 * this.#pause_ms, MAX_PAUSE_MS);
  }

  #tell(message: Uint8Array): void {
    if (this.#front.carry(message) || this.#deps.elsewhere(message)) return;
    const detail = 'The client takes no event stream, so it cannot be asked.';
    this.#front.refuse('MISSING_CAPABILITY', { detail });
  }

  /** Undefined: the server asks for what it was not told that this client can. */
  #questionsOf(line: Uint8Array, requests: Member): readonly Question[] | undefined {
    if (!isObjectAt(line, requests.value)) return undefined;
    const questions: Question[] = [];
    for (const { key, value, to } of membersOf(line, requests.value)) {
      const question = isObjectAt(line, value) ? this.#questionOf(line, key, value, to) : undefined;
      if (question === undefined || questions.length >= MAX_QUESTIONS) return undefined;
      questions.push(question);
    }
    return questions;
  }

  #questionOf(line: Uint8Array, key: string, value: number, to: number): Question | undefined {
    const { revision, capabilities } = this.#client;
    const request = JSON.parse(toRaw(line, value, to)) as { readonly method?: unknown; readonly params?: { readonly mode?: string } };
    const { method, params } = request;
    if (typeof method !== 'string' || !METHODS.has(method) || (method !== 'roots/list' && typeof params !== 'object')) return undefined;
    if (missingCapabilities(capabilitiesIn(revision, capabilities), [request as InputRequest]) !== undefined) return undefined;
    const found = memberOf(line, value, 'params');
    const text = found === undefined ? undefined : toRaw(line, found.value, found.to);
    if (found === undefined || text === undefined || params?.mode !== 'url' || memberOf(line, found.value, 'elicitationId') !== undefined)
      return { key, method, params: text };
    const id = randomUUID();
    this.#visited.push(id);
    return { key, method, params: `{"elicitationId":"${id}",${text.slice(1)}` };
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#input?.abandon();
    if (this.#id !== undefined) this.#way.cancel(this.#id);
    this.#deps.over();
  }
}

const HEADERS_DIFFER = -32020;
const COMPLETE = '"complete"';
/** Members of `params` that belong to a modern retry, or to the tasks of 2025-11-25. */
const FOREIGN: ReadonlySet<string> = new Set(['inputResponses', 'requestState', 'task']);
const METHODS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);
const MAX_ROUNDS = 16;
const MAX_QUESTIONS = 16;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 2_000;
