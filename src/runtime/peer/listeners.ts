import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { readListenFilter, wantedOf } from '../../core/call/listen.js';
import { paramsOf } from '../../core/call/params.js';
import { createHub } from '../../core/hub.js';
import { Subscription } from '../../core/run/listen.js';
import type { ErrorCode } from '../../errors/codes.js';
import { GatewayError } from '../../errors/error.js';
import { ask } from './ask.js';
import type { Handshake } from './handshake.js';
import type { Peer } from './peer.js';

/** The modern subscriptions on one legacy server, whose notices are their changes. A resource is subscribed to once, for as long as anybody listens. */
export class Listeners {
  /** Gets what the server says of itself. */
  readonly changes = createHub();
  readonly #peer: Peer;
  readonly #clock: Clock;
  readonly #publishes: Handshake['changes'];
  readonly #server_info: string;
  readonly #watched = new Map<string, number>();

  constructor(peer: Peer, clock: Clock, { changes, server_info }: Handshake) {
    this.#peer = peer;
    this.#clock = clock;
    this.#publishes = changes;
    this.#server_info = server_info;
  }

  open(call: Call, exchange: Exchange): void {
    const asked = readListenFilter(paramsOf(call.body).notifications);
    if (typeof asked === 'string') return exchange.fail(new GatewayError('INVALID_PARAMS', { detail: asked }));
    const { identity } = call;
    const subscription = Subscription.open(exchange, { id: call.id as string, request_id: call.head.id, server_info: this.#server_info });
    if (subscription === undefined) return;
    const { signal } = subscription;
    const lost = (code: ErrorCode): void => subscription.lost(new GatewayError(code));
    // A place among the pending calls: it gets the end of the server like any call.
    const place = this.#peer.open({ answered: ignore, noticed: ignore, lost });
    if (place === undefined) return lost('UPSTREAM_ENDED');
    const held = new Set<string>();
    signal.addEventListener('abort', () => {
      this.#peer.forget(place);
      for (const uri of held) this.#unwatch(uri);
    });
    const start = (): void => {
      const wanted = wantedOf(asked, this.#publishes, [...held]);
      if (wanted === undefined) {
        this.#peer.forget(place);
        return subscription.start(undefined);
      }
      subscription.start(wanted, { open: () => this.changes.open(wanted, { identity, signal }), crashed: ignore });
    };
    if (!this.#publishes.updates || asked.uris.length === 0) return start();
    this.#watchAll(asked.uris, signal, held, start);
  }

  /** Subscribes to each; `held` gets those that the server accepted. Refused ones are not acknowledged. */
  #watchAll(uris: readonly string[], ended: AbortSignal, held: Set<string>, done: () => void): void {
    let left = uris.length;
    const settle = (uri: string, taken: boolean): void => {
      if (taken && ended.aborted) this.#unwatch(uri);
      else if (taken) held.add(uri);
      left -= 1;
      if (left === 0 && !ended.aborted) done();
    };
    for (const uri of uris) this.#watch(uri, (taken) => settle(uri, taken));
  }

  #watch(uri: string, told: (taken: boolean) => void): void {
    const count = this.#watched.get(uri) ?? 0;
    this.#watched.set(uri, count + 1);
    if (count > 0) return told(true);
    ask(this.#peer, this.#clock, 'resources/subscribe', JSON.stringify({ uri }), SUBSCRIBE_MS, (asked) => {
      const taken = asked.kind === 'answered' && asked.response.outcome !== 'rpc_error';
      if (!taken) this.#release(uri);
      told(taken);
    });
  }

  #unwatch(uri: string): void {
    if (this.#release(uri)) ask(this.#peer, this.#clock, 'resources/unsubscribe', JSON.stringify({ uri }), SUBSCRIBE_MS, () => undefined);
  }

  /** True when no listener is left. */
  #release(uri: string): boolean {
    const count = (this.#watched.get(uri) ?? 0) - 1;
    if (count > 0) this.#watched.set(uri, count);
    else this.#watched.delete(uri);
    return count === 0;
  }
}

const SUBSCRIBE_MS = 10_000;

function ignore(): void {}
