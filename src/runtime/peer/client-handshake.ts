import type { Call } from '../../contract/runtime.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { Response } from './incoming.js';
import { toPeer } from './outgoing.js';
import type { Peer, PendingRequest } from './peer.js';
import type { PeerCall } from './peer-call.js';

/**
 * A client's `initialize` on its way through its own peer. A server may take longer to start than a call may take, so the
 * handshake outlives the call that began it: a later call with the same handshake waits for the same answer.
 */
export class ClientHandshake implements PendingRequest {
  #call: PeerCall | undefined;
  #answer: { readonly line: Uint8Array; readonly response: Response } | undefined;

  /** The server has answered. */
  get answered_once(): boolean {
    return this.#answer !== undefined;
  }

  /** True while no call waits for it. */
  get free(): boolean {
    return this.#call === undefined;
  }

  /** Sends the client's own message. An error: it could not be sent. */
  send(peer: Peer, { body }: Call, identity: string | undefined): ErrorCode | undefined {
    const id = peer.open(this);
    if (id !== undefined && peer.send(toPeer(body, { id, identity }))) return undefined;
    if (id !== undefined) peer.forget(id);
    return peer.closed ? 'UPSTREAM_ENDED' : 'OVERLOADED';
  }

  /** Lets this call have the answer. */
  attach(call: PeerCall): void {
    this.#call = call;
    call.follow();
    if (this.#answer !== undefined) call.answered(this.#answer.line, this.#answer.response);
  }

  /** Its call is over. */
  release(): void {
    this.#call = undefined;
  }

  answered(line: Uint8Array, response: Response): void {
    this.#answer = { line, response };
    this.#call?.answered(line, response);
  }

  noticed(line: Uint8Array, kind: 'progress' | 'event'): void {
    this.#call?.noticed(line, kind);
  }

  lost(code: ErrorCode): void {
    this.#call?.lost(code);
  }
}
