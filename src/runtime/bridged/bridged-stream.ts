import type { Clock, Timer } from '../../contract/clock.js';
import type { Exchange } from '../../contract/runtime.js';
import { MAX_URI } from '../../core/define/names.js';
import { cutting, isObjectAt, memberAt, membersOf, splice } from '../../wire/edit.js';
import { requestText, SUBSCRIPTION_KEY } from '../../wire/rpc.js';
import { toRaw } from '../../wire/text.js';
import type { PendingRequest } from '../peer/peer.js';
import { SessionStream } from '../peer/session-stream.js';
import type { ModernWay } from './bridged-call.js';

export interface BridgedStreamDeps {
  readonly clock: Clock;
  /** A way to the server for one subscription, with the caller's header fields; the subscription ends with `close`. */
  open(): ModernWay;
  /** Members of `params._meta`, JSON text without braces. */
  meta(): string;
}

/**
 * What a legacy client is told beside its calls: its GET stream, fed by one `subscriptions/listen` on the modern server for as long as the client listens,
 * and the resources that it subscribed to. A change of those opens the next subscription before the last one ends, so that nothing is missed.
 */
export class BridgedStream {
  readonly #deps: BridgedStreamDeps;
  readonly #client = new SessionStream();
  readonly #uris = new Set<string>();
  #subscription: Subscription | undefined;
  /** The one that takes over once the server has acknowledged it. */
  #next: Subscription | undefined;
  /** Get what the server acknowledges next; undefined: the client has stopped listening before. */
  #waiting: ((taken: ReadonlySet<string> | undefined) => void)[] = [];
  #again: Timer | undefined;
  #pause_ms = FIRST_PAUSE_MS;

  constructor(deps: BridgedStreamDeps) {
    this.#deps = deps;
  }

  get open(): boolean {
    return this.#client.open;
  }

  /** The client listens from now on; the stream that it had before ends. */
  attach(exchange: Exchange): void {
    this.#client.attach(exchange, () => this.#quiet());
    if (this.#client.open && this.#subscription === undefined && this.#next === undefined) this.#listen();
  }

  /** A message for the client beside its calls. False: it does not listen. */
  push(message: Uint8Array): boolean {
    return this.#client.open && this.#client.push(message);
  }

  /**
   * Takes a resource in; tells whether the server sends its updates, at the latest after 5 s. Nothing is asked while the client does not listen: it is taken
   * then. At most 1 000 of at most 4 096 characters, 100 000 characters together; one more is refused.
   */
  subscribe(uri: string, told: (taken: boolean) => void): void {
    if (this.#uris.has(uri) && this.#subscription?.takes(uri) === true) return told(true);
    if (!this.#uris.has(uri) && !this.#hasRoomFor(uri)) return told(false);
    this.#uris.add(uri);
    if (!this.#client.open) return told(true);
    this.#waiting.push((taken) => {
      const good = taken === undefined || taken.has(uri);
      if (!good) this.#uris.delete(uri);
      told(good);
    });
    this.#listen();
  }

  #hasRoomFor(uri: string): boolean {
    let characters = uri.length;
    for (const one of this.#uris) characters += one.length;
    return uri.length <= MAX_URI && this.#uris.size < MAX_URIS && characters <= MAX_CHARACTERS;
  }

  unsubscribe(uri: string): void {
    if (this.#uris.delete(uri) && this.#client.open) this.#listen();
  }

  end(): void {
    this.#client.end();
    this.#quiet();
  }

  #quiet(): void {
    this.#again?.cancel();
    this.#again = undefined;
    this.#next?.end();
    this.#subscription?.end();
    this.#next = this.#subscription = undefined;
    this.#tell(undefined);
  }

  #tell(taken: ReadonlySet<string> | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const told of waiting) told(taken);
  }

  /** Subscribes to what is wanted now. */
  #listen(): void {
    this.#again?.cancel();
    this.#again = undefined;
    const overtaken = this.#next;
    const subscription: Subscription = new Subscription(this.#deps, [...this.#uris], {
      message: (line) => void this.#client.push(line),
      acknowledged: (taken) => {
        this.#pause_ms = FIRST_PAUSE_MS;
        this.#next = undefined;
        this.#subscription?.end();
        this.#subscription = subscription;
        this.#tell(taken);
      },
      ended: () => {
        if (this.#next === subscription) {
          this.#next = undefined;
          this.#tell(NONE);
        } else if (this.#subscription === subscription) this.#subscription = undefined;
        if (this.#client.open && this.#next === undefined && this.#subscription === undefined) this.#later();
      },
    });
    this.#next = subscription;
    overtaken?.end();
    subscription.start();
  }

  #later(): void {
    this.#again ??= this.#deps.clock.timer(this.#pause_ms, () => this.#listen());
    this.#pause_ms = Math.min(2 * this.#pause_ms, MAX_PAUSE_MS);
  }
}

interface SubscriptionListener {
  message(line: Uint8Array): void;
  /** Once: which of the resources the server sends updates of. */
  acknowledged(taken: ReadonlySet<string>): void;
  /** The server ended it, or never acknowledged it. Not after `end`. */
  ended(): void;
}

/** One `subscriptions/listen` on the server. */
class Subscription implements PendingRequest {
  readonly #deps: BridgedStreamDeps;
  readonly #uris: readonly string[];
  readonly #listener: SubscriptionListener;
  readonly #way: ModernWay;
  #id: number | undefined;
  #late: Timer | undefined;
  #taken: ReadonlySet<string> | undefined;
  #over = false;

  constructor(deps: BridgedStreamDeps, uris: readonly string[], listener: SubscriptionListener) {
    this.#deps = deps;
    this.#uris = uris;
    this.#listener = listener;
    this.#way = deps.open();
  }

  takes(uri: string): boolean {
    return this.#taken?.has(uri) === true;
  }

  start(): void {
    this.#late = this.#deps.clock.timer(ACKNOWLEDGED_MS, () => this.#end());
    const { peer } = this.#way;
    const id = peer.open(this);
    this.#id = id;
    const lists = '"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true';
    const filter = this.#uris.length === 0 ? lists : `${lists},"resourceSubscriptions":${JSON.stringify(this.#uris)}`;
    const params = `{"notifications":{${filter}},"_meta":{${this.#deps.meta()}}}`;
    if (id === undefined || !peer.say(requestText(id, 'subscriptions/listen', params))) this.#end();
  }

  /** Ends it without a word to its listener. */
  end(): void {
    this.#over = true;
    this.#late?.cancel();
    if (this.#id !== undefined) this.#way.cancel(this.#id);
    this.#way.close();
  }

  noticed(line: Uint8Array, kind: 'progress' | 'event'): void {
    if (this.#over || kind !== 'event') return;
    const method = memberAt(line, 'method');
    const said = method === undefined ? undefined : toRaw(line, method.value, method.to);
    if (said !== ACKNOWLEDGED) return this.#listener.message(withoutSubscription(line));
    if (this.#taken !== undefined) return;
    this.#late?.cancel();
    const uris = memberAt(line, 'params', 'notifications', 'resourceSubscriptions');
    const named = uris === undefined ? [] : (JSON.parse(toRaw(line, uris.value, uris.to)) as readonly unknown[]);
    this.#taken = new Set(this.#uris.filter((uri) => Array.isArray(named) && named.includes(uri)));
    this.#listener.acknowledged(this.#taken);
  }

  answered(): void {
    this.#id = undefined;
    this.#end();
  }

  lost(): void {
    this.#id = undefined;
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.end();
    this.#listener.ended();
  }
}

/** The notification as a legacy client knows it. */
function withoutSubscription(line: Uint8Array): Uint8Array {
  const params = memberAt(line, 'params');
  const meta = memberAt(line, 'params', '_meta');
  if (params === undefined || meta === undefined || !isObjectAt(line, meta.value)) return line;
  const members = membersOf(line, meta.value);
  const bare = members.every(({ key }) => key === SUBSCRIPTION_KEY);
  return splice(
    line,
    bare ? cutting(membersOf(line, params.value), ({ key }) => key === '_meta') : cutting(members, ({ key }) => key === SUBSCRIPTION_KEY),
  );
}

const NONE: ReadonlySet<string> = new Set();
const ACKNOWLEDGED = '"notifications/subscriptions/acknowledged"';
const ACKNOWLEDGED_MS = 5_000;
const MAX_URIS = 1_000;
const MAX_CHARACTERS = 100_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
