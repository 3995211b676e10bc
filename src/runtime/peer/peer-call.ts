import type { Call, Exchange, HeaderList, MessageWriter } from '../../contract/runtime.js';
import type { BridgeDirection, EndReason } from '../../contract/telemetry.js';
import { completionText } from '../../core/run/listen.js';
import type { ErrorCode } from '../../errors/codes.js';
import { type ErrorDetail, GatewayError } from '../../errors/error.js';
import { memberAt, splice } from '../../wire/edit.js';
import { resultText, SUBSCRIPTION_KEY } from '../../wire/rpc.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import type { Response } from './incoming.js';
import { toPeer } from './outgoing.js';
import type { Peer, PendingRequest } from './peer.js';
import type { ReplyMapper } from './reply-mapper.js';

export interface PeerCallOptions {
  readonly tell: ReplyMapper;
  readonly tools: ToolsLearner;
  /** As in `Outgoing`. */
  readonly drops?: ((key: string) => boolean) | undefined;
  readonly without?: ReadonlySet<string> | undefined;
  readonly identity?: string | undefined;
  /** Header fields for the message, where it has any. */
  readonly fields?: readonly string[] | undefined;
  /** The peer speaks the other era than the client. */
  readonly bridged?: BridgeDirection | undefined;
  /** The server has lost the session that the call was sent in, and has not begun it. True: the call was sent again in another one. */
  again?(): boolean;
  /** Runs once when the call is over in any way. What it returns goes into the head of a whole answer. */
  settled?(how: CallSettled): HeaderList;
}

/** How a call ended: with a result, with an error of the peer's, without its client, or not answered. */
export type CallSettled = 'ok' | 'error' | 'left' | 'not';

/** One call of a client on its way through a peer: from the rewritten request to the end of the answer. */
export class PeerCall implements PendingRequest {
  readonly call: Call;
  readonly #exchange: Exchange;
  readonly #options: PeerCallOptions;
  #peer: Peer | undefined;
  #id: number | undefined;
  #writer: MessageWriter | undefined;
  #slow = false;
  #latest: Uint8Array | undefined;
  #over = false;

  constructor(call: Call, exchange: Exchange, options: PeerCallOptions) {
    this.call = call;
    this.#exchange = exchange;
    this.#options = options;
  }

  start(peer: Peer): void {
    const { call } = this;
    const { drops, without, identity, fields } = this.#options;
    this.#peer = peer;
    const id = peer.open(this);
    if (id === undefined) return this.#fail(peer.closed ? 'UPSTREAM_ENDED' : 'OVERLOADED');
    this.#id = id;
    this.follow();
    if (peer.send(toPeer(call.body, { id, drops, without, identity }), fields)) return;
    peer.forget(id);
    if (!this.#over) this.#fail(peer.closed ? 'UPSTREAM_ENDED' : 'OVERLOADED');
  }

  /** Waits for an answer that somebody else asked the peer for. */
  follow(): void {
    this.#exchange.onCancel((reason) => this.#cancelled(reason));
    this.#exchange.upstreamStarted(this.#options.bridged);
  }

  /** The client takes an event stream and waits for its answer. The handshake has none: its answer's head carries the session id. */
  get carries(): boolean {
    return !this.#over && this.#exchange.accepts_events && this.call.method !== 'initialize';
  }

  answered(line: Uint8Array, response: Response): void {
    if (this.#over) return;
    this.#exchange.upstreamResponded();
    const told = this.#options.tell(this.call, line, response);
    if (told === undefined) return this.#fail('UPSTREAM_BROKEN');
    this.#over = true;
    const headers = this.#options.settled?.(told.outcome === 'rpc_error' ? 'error' : 'ok') ?? [];
    const { status, body, outcome, rpc_code } = told;
    if (this.#writer === undefined) this.#exchange.respond(status, [...JSON_HEADERS, ...headers], body, outcome, rpc_code);
    else {
      this.#flush();
      this.#writer.write(body);
      this.#writer.end('source', outcome, rpc_code);
    }
    if (this.call.method === 'tools/list' && outcome === 'ok') this.#options.tools.learn(this.call.route.path, body);
  }

  noticed(line: Uint8Array, kind: 'progress' | 'event'): void {
    if (this.#over) return;
    if (kind === 'event') return this.#event(line);
    this.#exchange.upstreamResponded();
    const { progress_token } = this.call;
    const token = progress_token === undefined ? undefined : memberAt(line, 'params', 'progressToken');
    if (token === undefined) return;
    this.#exchange.progressed();
    if (!this.carries) return;
    this.#latest = splice(line, [{ from: token.value, to: token.to, text: progress_token as string }]);
    if (!this.#slow) this.#flush();
  }

  lost(code: ErrorCode): void {
    if (this.#over) return;
    if (code !== 'SESSION_NOT_FOUND' || this.#options.again === undefined) return this.#fail(code);
    this.#settle();
    if (!this.#options.again()) this.#exchange.fail(new GatewayError('UPSTREAM_BROKEN'));
  }

  /** Sends a message of the peer on this call's own stream; false when that cannot be. */
  carry(line: Uint8Array): boolean {
    return this.carries && this.#write(line);
  }

  /** As `carry`, for what may go another way: false also while the reader is behind. */
  carryLog(line: Uint8Array): boolean {
    return !this.#slow && this.carry(line);
  }

  /** Somebody is being asked: the call may take longer. */
  patience(): void {
    this.#exchange.progressed();
  }

  /** The client has cancelled this call by a message: the peer will not answer it, and is not waited for. */
  withdraw(): void {
    if (this.#over) return;
    this.#settle();
    if (this.#writer === undefined && !this.#exchange.accepts_events) return this.#exchange.accept();
    this.#open()?.end('client');
  }

  /** What the peer calls this call. */
  get peer_id(): number | undefined {
    return this.#id;
  }

  /** Ends the call with an error of the gateway and cancels it at the peer. */
  refuse(code: ErrorCode, detail: ErrorDetail): void {
    if (this.#over) return;
    this.#cancelled('error');
    this.#exchange.fail(new GatewayError(code, detail));
  }

  /** Gives the client a result of the gateway's own, JSON text, while the peer goes on. Nothing more is said to this client then; `settled` does not run. */
  give(result: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#exchange.upstreamResponded();
    const body = Buffer.from(resultText(this.call.id as string, result));
    if (this.#writer === undefined) return this.#exchange.respond(200, JSON_HEADERS, body, 'ok');
    this.#flush();
    this.#writer.write(body);
    this.#writer.end('source', 'ok');
  }

  #cancelled(reason: EndReason): void {
    if (this.#over) return;
    this.#settle(reason === 'client' || reason === 'deadline' ? 'left' : 'not');
    if (reason === 'drain') this.#drained();
    // A handshake has no id here, and may not be cancelled (MCP 2025-11-25, Cancellation).
    if (this.#id === undefined) return;
    const params = `{"requestId":${this.#id},"reason":"${REASONS[reason] ?? 'The gateway ended the call.'}"}`;
    this.#peer?.notify('notifications/cancelled', params);
  }

  /** A subscription is completed, since its client is still there. */
  #drained(): void {
    const { id, method, era } = this.call;
    if (this.#writer === undefined || method !== 'subscriptions/listen') return;
    if (era === 'modern') this.#writer.write(completionText(id as string));
    this.#writer.end('drain');
  }

  #fail(code: ErrorCode): void {
    this.#settle();
    this.#exchange.fail(new GatewayError(code));
  }

  #settle(how: CallSettled = 'not'): void {
    this.#over = true;
    if (this.#id !== undefined) this.#peer?.forget(this.#id);
    this.#options.settled?.(how);
  }

  /** An event of a subscription: it names the subscription as the client does. */
  #event(line: Uint8Array): void {
    if (this.call.method !== 'subscriptions/listen') return;
    const member = memberAt(line, 'params', '_meta', SUBSCRIPTION_KEY);
    if (member === undefined) return;
    this.#write(splice(line, [{ from: member.value, to: member.to, text: this.call.id as string }]));
  }

  #flush(): void {
    const latest = this.#latest;
    this.#latest = undefined;
    if (latest !== undefined) this.#write(latest);
  }

  #write(message: Uint8Array): boolean {
    const writer = this.#open();
    if (writer === undefined) return false;
    this.#slow = !writer.write(message);
    return true;
  }

  #open(): MessageWriter | undefined {
    if (this.#writer !== undefined || !this.#exchange.accepts_events || this.#exchange.ended) return this.#writer;
    this.#writer = this.#exchange.events([]);
    this.#writer?.onDrain(() => {
      this.#slow = false;
      if (!this.#over) this.#flush();
    });
    return this.#writer;
  }
}

const JSON_HEADERS: HeaderList = ['content-type', 'application/json'];

const REASONS: Partial<Readonly<Record<EndReason, string>>> = {
  client: 'The client has left.',
  deadline: 'The call took too long.',
};
