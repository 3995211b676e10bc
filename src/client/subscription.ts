import type { Change } from '../contract/changes.js';
import { isObject } from '../core/call/params.js';
import type { ClientError } from './client-error.js';
import { ACKNOWLEDGED, type JsonObject } from './messages.js';
import type { CallOptions } from './options.js';
import type { Requests } from './requests.js';

/** What a subscription should tell. */
export interface SubscriptionFilter {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** Resources whose updates are reported. */
  readonly uris?: readonly string[];
}

/**
 * Changes, one after another, until the server ends it or `close` does. Equal unread changes are merged, so
 * the queue of a slow reader is bounded by the filter. A broken connection rejects the next read.
 */
export class Subscription implements AsyncIterable<Change> {
  readonly #requests: Requests;
  readonly #wishes: SubscriptionFilter;
  readonly #closed: () => void;
  readonly #abort = new AbortController();
  readonly #pending = new Map<string, Change>();
  #wake: (() => void) | undefined;
  #end: 'open' | 'over' | ClientError = 'open';
  #agreed: SubscriptionFilter = {};

  /** `closed` is called once, at the end. */
  constructor(requests: Requests, wishes: SubscriptionFilter, closed: () => void) {
    this.#requests = requests;
    this.#wishes = wishes;
    this.#closed = closed;
  }

  /** What the server agreed to tell. It may be less than was asked for. */
  get agreed(): SubscriptionFilter {
    return this.#agreed;
  }

  /** Asks the server; resolves when it has agreed. Called once, by the client. */
  async open(options: CallOptions): Promise<void> {
    try {
      await (this.#requests.era === 'modern' ? this.#listen(options) : this.#subscribe(options));
    } catch (error) {
      this.fail(error as ClientError);
      throw error;
    }
  }

  /** Ends it by closing the connection; a legacy server gets no notification. */
  end(): void {
    this.#finish('over');
    this.#abort.abort();
  }

  /** Ends it and notifies the server. Idempotent. */
  close(): void {
    if (this.#end !== 'open') return;
    this.end();
    if (this.#requests.era === 'legacy') {
      for (const uri of this.#agreed.uris ?? [])
        void this.#requests.ask('resources/unsubscribe', { uri }, this.#requests.bound({})).catch(() => undefined);
    }
  }

  /** The connection is gone. */
  fail(error: ClientError): void {
    this.#finish(error);
  }

  /** A notification of a legacy server. */
  notified(method: string, params: JsonObject): void {
    const change = changeOf(method, params);
    if (change !== undefined && isWanted(this.#wishes, change)) this.#offer(change);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, void> {
    try {
      for (;;) {
        const [first] = this.#pending;
        if (first !== undefined) {
          this.#pending.delete(first[0]);
          yield first[1];
        } else if (this.#end === 'open') {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        } else if (this.#end === 'over') return;
        else throw this.#end;
      }
    } finally {
      this.close();
    }
  }

  #listen(options: CallOptions): Promise<void> {
    const { tools, prompts, resources, uris = [] } = this.#wishes;
    const notifications = {
      ...(tools === true ? { toolsListChanged: true } : {}),
      ...(prompts === true ? { promptsListChanged: true } : {}),
      ...(resources === true ? { resourcesListChanged: true } : {}),
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    };
    const { signal } = options;
    const own = signal === undefined ? this.#abort.signal : AbortSignal.any([signal, this.#abort.signal]);
    return new Promise((resolve, reject) => {
      const event = (method: string, params: JsonObject): void => {
        if (method === ACKNOWLEDGED) {
          this.#agreed = toWishes(params.notifications);
          resolve();
        } else this.notified(method, params);
      };
      const { onProgress: _, ...rest } = options;
      this.#requests.stream('subscriptions/listen', { notifications }, { ...rest, signal: own }, event).then(
        () => {
          this.#finish('over');
          resolve();
        },
        (error: ClientError) => {
          this.#finish(error);
          reject(error);
        },
      );
    });
  }

  async #subscribe(options: CallOptions): Promise<void> {
    const { tools, prompts, resources } = this.#requests.agreement.capabilities as Readonly<Record<string, JsonObject | undefined>>;
    const uris = resources?.subscribe === true ? (this.#wishes.uris ?? []) : [];
    const bound = this.#requests.bound(options);
    for (const uri of uris) await this.#requests.ask('resources/subscribe', { uri }, bound);
    this.#agreed = {
      ...(this.#wishes.tools === true && tools?.listChanged === true ? { tools: true } : {}),
      ...(this.#wishes.prompts === true && prompts?.listChanged === true ? { prompts: true } : {}),
      ...(this.#wishes.resources === true && resources?.listChanged === true ? { resources: true } : {}),
      ...(uris.length > 0 ? { uris } : {}),
    };
  }

  #offer(change: Change): void {
    if (this.#end !== 'open') return;
    this.#pending.set(change.kind === 'resource' ? `uri ${change.uri}` : change.kind, change);
    this.#wakeUp();
  }

  #finish(end: 'over' | ClientError): void {
    if (this.#end !== 'open') return;
    this.#end = end;
    this.#closed();
    this.#wakeUp();
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

function changeOf(method: string, { uri }: JsonObject): Change | undefined {
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools' };
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts' };
    case 'notifications/resources/list_changed':
      return { kind: 'resources' };
    case 'notifications/resources/updated':
      return typeof uri === 'string' ? { kind: 'resource', uri } : undefined;
    default:
      return undefined;
  }
}

/** A server may report a part of a requested resource. Updates of other resources are dropped, so the queue is bounded. */
function isWanted(wishes: SubscriptionFilter, change: Change): boolean {
  if (change.kind !== 'resource') return wishes[change.kind] === true;
  return wishes.uris?.includes(change.uri) === true;
}

function toWishes(notifications: unknown): SubscriptionFilter {
  if (!isObject(notifications)) return {};
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications;
  return {
    ...(toolsListChanged === true ? { tools: true } : {}),
    ...(promptsListChanged === true ? { prompts: true } : {}),
    ...(resourcesListChanged === true ? { resources: true } : {}),
    ...(Array.isArray(resourceSubscriptions) && resourceSubscriptions.length > 0 ? { uris: resourceSubscriptions.map(String) } : {}),
  };
}
