import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { MODERN } from '../../dialect/methods.js';
import { GatewayError } from '../../errors/error.js';
import { memberAt } from '../../wire/edit.js';
import { resultText } from '../../wire/rpc.js';
import type { Envelope } from '../../wire/scan.js';
import { toRaw } from '../../wire/text.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { CallLogs } from './call-logs.js';
import type { Handshake } from './handshake.js';
import { Listeners } from './listeners.js';
import { isModernKey } from './outgoing.js';
import type { Audience, Peer } from './peer.js';
import { PeerCall, type PeerCallOptions } from './peer-call.js';
import type { ReplyMapper } from './reply-mapper.js';
import { bridgedReplyMapper } from './reply-mapper.js';

export interface BridgeParts {
  readonly clock: Clock;
  readonly tools: ToolsLearner;
  identityOf(call: Call): string | undefined;
  /** Header fields that go with a call, where messages have any. */
  fieldsOf?(call: Call): readonly string[];
  /** What the client of this call comes back with when it was sent somewhere else first (`bridgedReplyMapper`). */
  stateOf(call: Call): string;
  /** As `again` of a call. */
  again?(call: Call, exchange: Exchange): boolean;
  /** Takes a question of the server to a client; absent: no client can be asked. `about`: as in `Audience`. */
  asked?(line: Uint8Array, envelope: Envelope, about: number | undefined): void;
  /** The server withdraws a question, raw JSON id. */
  withdrawn?(id: string): void;
}

/**
 * Modern clients on one legacy server that the gateway initialised. A question of the server goes to the client that can be meant, if there is one; else it
 * is refused. (The other direction, legacy clients on a modern server, is in `runtime/bridged`.)
 */
export class Bridge implements Audience {
  readonly peer: Peer;
  readonly logs: CallLogs;
  readonly #handshake: Handshake;
  readonly #toolsChanged: () => void;
  readonly #parts: BridgeParts;
  readonly #tell: ReplyMapper;
  readonly #calls = new Set<PeerCall>();
  readonly #listeners: Listeners;

  /** `tools_changed` runs when the server says so. */
  constructor(peer: Peer, handshake: Handshake, parts: BridgeParts, tools_changed: () => void) {
    this.peer = peer;
    this.#handshake = handshake;
    this.#toolsChanged = tools_changed;
    this.#parts = parts;
    this.logs = new CallLogs(peer, parts.clock, handshake.logs);
    this.#tell = bridgedReplyMapper(handshake, (call) => parts.stateOf(call));
    this.#listeners = new Listeners(peer, parts.clock, handshake);
    peer.audience = this;
  }

  handle(call: Call, exchange: Exchange): void {
    if (call.method === 'server/discover') return this.#discover(call, exchange);
    if (call.method === 'subscriptions/listen') return this.#listeners.open(call, exchange);
    if (GONE.has(call.method)) return exchange.fail(new GatewayError('METHOD_NOT_FOUND'));
    const own = new PeerCall(call, exchange, {
      ...this.optionsOf(call),
      again: () => this.#parts.again?.(call, exchange) === true,
      settled: () => {
        this.#calls.delete(own);
        this.logs.leave(own);
        return [];
      },
    });
    this.#calls.add(own);
    exchange.onCancel(() => {
      this.#calls.delete(own);
      this.logs.leave(own);
    });
    this.logs.enter(own, () => own.start(this.peer));
  }

  /** How a call is sent to this server, and its answer told. */
  optionsOf(call: Call): Pick<PeerCallOptions, 'tell' | 'tools' | 'drops' | 'without' | 'identity' | 'fields' | 'bridged'> {
    const { tools, identityOf, fieldsOf } = this.#parts;
    return {
      tell: this.#tell,
      tools,
      drops: isModernKey,
      without: RETRY,
      identity: identityOf(call),
      fields: fieldsOf?.(call),
      bridged: 'to_legacy',
    };
  }

  /**
   * The server asks for something that a modern client gives only in a result. The request is refused; when it can concern only one call,
   * that call ends with the reason, since the server may never answer it.
   */
  request(line: Uint8Array, envelope: Envelope, about?: number): void {
    const { method } = envelope;
    const { asked } = this.#parts;
    if (asked !== undefined && QUESTIONS.has(method)) return asked(line, envelope, about);
    if (!QUESTIONS.has(method)) return this.peer.refuse(envelope, 'This client has no such method.');
    this.peer.refuse(envelope, 'Modern clients share this server and cannot be asked; a legacy client can.', -32021);
    const [only] = this.#calls;
    if (this.#calls.size === 1 && method !== 'roots/list') only?.refuse('MISSING_CAPABILITY', { detail: refusal(method) });
  }

  notification(line: Uint8Array, { method, uri }: Envelope, about?: number): void {
    if (method === 'notifications/message') return this.logs.message(line, about);
    if (method === 'notifications/cancelled') {
      const id = memberAt(line, 'params', 'requestId');
      if (id !== undefined) this.#parts.withdrawn?.(toRaw(line, id.value, id.to));
    }
    const { changes } = this.#listeners;
    if (method === 'notifications/tools/list_changed') {
      this.#toolsChanged();
      changes.toolsChanged();
    } else if (method === 'notifications/prompts/list_changed') changes.promptsChanged();
    else if (method === 'notifications/resources/list_changed') changes.resourcesChanged();
    else if (method === 'notifications/resources/updated' && uri !== undefined) changes.resourceUpdated(uri);
  }

  #discover({ id }: Call, exchange: Exchange): void {
    const { capabilities, server_info, instructions } = this.#handshake;
    const said = instructions === undefined ? '' : `"instructions":${instructions},`;
    const members = `"supportedVersions":["${MODERN}"],"capabilities":${capabilities},${said}"ttlMs":0,"cacheScope":"private"`;
    const meta = `"_meta":{"io.modelcontextprotocol/serverInfo":${server_info}}`;
    const json = resultText(id as string, `{"resultType":"complete",${members},${meta}}`);
    exchange.respond(200, ['content-type', 'application/json'], Buffer.from(json), 'ok');
  }
}

/** Members of `params` that belong to a modern retry, or to the tasks of 2025-11-25. */
export const RETRY: ReadonlySet<string> = new Set(['inputResponses', 'requestState', 'task']);
/** Requests of legacy revisions that the modern one took away, and those of tasks, which mean something else in it. */
const GONE: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'tasks/list',
  'tasks/result',
]);
const QUESTIONS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

function refusal(method: string): string {
  return `The server asked for ${method}, which it can ask a legacy client only.`;
}
