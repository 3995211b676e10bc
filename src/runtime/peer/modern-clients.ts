import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { Shared, Supervisor } from '../supervisor.js';
import { Bridge, type BridgeParts } from './bridge.js';
import type { Audience, Peer } from './peer.js';
import { PeerCall } from './peer-call.js';
import { tellAsIs } from './teller.js';

/** Modern clients: all of them share the supervisor's peer, as it is when it is modern itself, else over the bridge. */
export class ModernClients {
  readonly #supervisor: Supervisor;
  readonly #parts: BridgeParts;
  #bridge: Bridge | undefined;

  constructor(supervisor: Supervisor, parts: BridgeParts) {
    this.#supervisor = supervisor;
    this.#parts = parts;
  }

  handle(call: Call, exchange: Exchange): void {
    // Closing its stream is how a modern client cancels; an id that it names here could be anybody's.
    if (call.kind === 'notification') return exchange.accept();
    if (call.kind !== 'request') return exchange.fail(new GatewayError('METHOD_NOT_ALLOWED', { headers: { allow: 'POST' } }));
    let leave = (): void => undefined;
    exchange.onCancel(() => leave());
    leave = this.#supervisor.use({
      ready: (shared) => !exchange.ended && this.#run(shared, call, exchange),
      failed: (error) => exchange.fail(error),
    });
  }

  #run({ peer, handshake }: Shared, call: Call, exchange: Exchange): void {
    if (handshake === undefined) {
      const { tools, identityOf } = this.#parts;
      peer.audience ??= refusing(peer);
      return new PeerCall(call, exchange, { tell: tellAsIs, tools, identity: identityOf(call) }).start(peer);
    }
    if (this.#bridge?.peer !== peer) this.#bridge = new Bridge(peer, handshake, this.#parts);
    this.#bridge.handle(call, exchange);
  }
}

/** A modern server asks nothing (MCP 2026-07-28, stdio); one that does so is told no. What it says to nobody in particular is dropped. */
function refusing(peer: Peer): Audience {
  return {
    request: (_line, { id }) =>
      void peer.say(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"A modern server sends no requests."}}`),
    notification: () => undefined,
  };
}
