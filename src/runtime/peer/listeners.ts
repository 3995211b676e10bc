import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { readListenFilter } from '../../core/call/listen.js';
import { GatewayError } from '../../errors/error.js';
import { ask } from './ask.js';
import type { Handshake } from './handshake.js';
import { Listener, type Notice } from './listener.js';
import type { Peer } from './peer.js';

/** The modern subscriptions on one legacy server. A resource is subscribed to once, for as long as anybody listens. */
export class Listeners {
  readonly #peer: Peer;
  readonly #clock: Clock;
  readonly #changes: Handshake['changes'];
  readonly #server_info: string;
  readonly #all = new Set<Listener>();
  readonly #watched = new Map<string, number>();

  constructor(peer: Peer, clock: Clock, { changes, server_info }: Handshake) {
    this.#peer = peer;
    this.#clock = clock;
    this.#changes = changes;
    this.#server_info = server_info;
  }

  offer(notice: Notice): void {
    for (const listener of this.#all) listener.offer(notice);
  }

  open(call: Call, exchange: Exchange): void {
    const { params } = JSON.parse(call.body.toString()) as { readonly params?: { readonly notifications?: unknown } };
    const asked = readListenFilter(params?.notifications);
    if (typeof asked === 'string') return exchange.fail(new GatewayError('INVALID_PARAMS', { detail: asked }));
    if (!exchange.accepts_events)
      return exchange.fail(new GatewayError('NOT_ACCEPTABLE', { detail: 'subscriptions/listen answers with an event stream.' }));
    const writer = exchange.events([]);
    if (writer === undefined) return;
    const listener = new Listener(writer, call.id as string, call.head.id, this.#server_info);
    // A place among the waiting: the end of the server is told to it as to any call.
    const place = this.#peer.open(listener);
    if (place === undefined) return listener.lost('UPSTREAM_ENDED');
    this.#all.add(listener);
    const held = new Set<string>();
    exchange.onCancel((reason) => {
      if (reason === 'drain') listener.complete('drain');
      else listener.leave();
      this.#all.delete(listener);
      this.#peer.forget(place);
      for (const uri of held) this.#unwatch(uri);
      held.clear();
    });
    const { tools, prompts, resources, updates } = this.#changes;
    const done = (uris: readonly string[]): void => {
      const filter = { tools: asked.tools && tools, prompts: asked.prompts && prompts, resources: asked.resources && resources, uris };
      listener.acknowledge(filter);
      if (filter.tools || filter.prompts || filter.resources || uris.length > 0) return;
      this.#all.delete(listener);
      this.#peer.forget(place);
    };
    if (!updates || asked.uris.length === 0) return done([]);
    this.#watchAll(asked.uris, exchange, held, () => done([...held]));
  }

  /** Subscribes to each; `held` gets those that the server took. What it refuses is not promised. */
  #watchAll(uris: readonly string[], exchange: Exchange, held: Set<string>, done: () => void): void {
    let left = uris.length;
    const settle = (uri: string, taken: boolean): void => {
      if (taken && exchange.ended) this.#unwatch(uri);
      else if (taken) held.add(uri);
      left -= 1;
      if (left === 0 && !exchange.ended) done();
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

  /** True when nobody is left. */
  #release(uri: string): boolean {
    const count = (this.#watched.get(uri) ?? 0) - 1;
    if (count > 0) this.#watched.set(uri, count);
    else this.#watched.delete(uri);
    return count === 0;
  }
}

const SUBSCRIBE_MS = 10_000;
