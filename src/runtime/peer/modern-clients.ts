import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { Bridge, type BridgeParts } from './bridge.js';
import { discoverParams } from './handshake.js';
import type { LeasedSessions } from './leased-sessions.js';
import type { Audience, Peer } from './peer.js';
import { PeerCall } from './peer-call.js';
import { tellAsIs } from './reply-mapper.js';
import { startingDetail } from './spawner.js';
import type { Shared, Supervisor } from './supervisor.js';
import type { ToolHeaders } from './tool-headers.js';

export interface ModernParts extends BridgeParts {
  /** What the gateway tells servers of itself. */
  readonly version: string;
  readonly start_timeout_ms: number;
  /** What is known of the server's mirrored arguments. */
  readonly headers: ToolHeaders;
  /** For calls whose client a legacy server may ask something. */
  readonly leased: LeasedSessions;
}

/**
 * Modern clients: all of them share the supervisor's peer, as it is when it is modern itself, else over the bridge. A call whose client a legacy server may ask
 * something goes in a session of its own.
 */
export class ModernClients {
  readonly #supervisor: Supervisor;
  readonly #parts: ModernParts;
  #current: SharedServer | undefined;

  constructor(supervisor: Supervisor, parts: ModernParts) {
    this.#supervisor = supervisor;
    this.#parts = parts;
    supervisor.onReady = (shared) => void this.#serverOf(shared);
  }

  handle(call: Call, exchange: Exchange): void {
    // Closing its stream is how a modern client cancels; an id that it names here could be anybody's.
    if (call.kind === 'notification') return exchange.accept();
    if (call.kind !== 'request') return exchange.fail(new GatewayError('METHOD_NOT_ALLOWED', { headers: { allow: 'POST' } }));
    let leave = (): void => undefined;
    exchange.onCancel(() => leave());
    exchange.waitsFor(startingDetail(this.#parts.start_timeout_ms));
    leave = this.#supervisor.use({
      ready: (shared) => {
        exchange.waitsFor(undefined);
        if (!exchange.ended) this.#run(this.#serverOf(shared), call, exchange);
      },
      failed: (error) => exchange.fail(error),
    });
  }

  #run({ peer, bridge, tools }: SharedServer, call: Call, exchange: Exchange): void {
    const { headers, leased } = this.#parts;
    const mismatch = headers.mismatch(call);
    if (mismatch !== undefined) return exchange.fail(new GatewayError('HEADER_MISMATCH', { detail: mismatch }));
    if (bridge !== undefined) {
      const askable = leased.askableOf(call);
      if (!askable.asks || (askable.text === undefined && askable.state === undefined)) bridge.handle(call, exchange);
      else leased.handle(call, exchange, askable);
      return;
    }
    new PeerCall(call, exchange, { tell: tellAsIs, tools, identity: this.#parts.identityOf(call) }).start(peer);
  }

  #serverOf(shared: Shared): SharedServer {
    if (this.#current?.peer !== shared.peer) this.#current = this.#meet(shared);
    return this.#current;
  }

  #meet({ peer, handshake }: Shared): SharedServer {
    const { clock, version, headers } = this.#parts;
    const tools: ToolsLearner = {
      learn: (route, message) => {
        this.#parts.tools.learn(route, message);
        headers.learn(message);
      },
    };
    const relist = (): void => headers.ask(peer, clock, handshake === undefined ? discoverParams(version) : '{}');
    relist();
    if (handshake !== undefined) return { peer, tools, bridge: new Bridge(peer, handshake, { ...this.#parts, tools }, relist) };
    peer.audience = refusing(peer);
    return { peer, tools, bridge: undefined };
  }
}

/** The shared server of the moment, and what belongs to it alone. */
interface SharedServer {
  readonly peer: Peer;
  readonly tools: ToolsLearner;
  /** For a legacy one. */
  readonly bridge: Bridge | undefined;
}

/** A modern server asks nothing (MCP 2026-07-28, stdio); a request from one is refused. Notifications that name no request are dropped. */
function refusing(peer: Peer): Audience {
  return {
    request: (_line, envelope) => peer.refuse(envelope, 'A modern server sends no requests.'),
    notification: () => undefined,
  };
}
