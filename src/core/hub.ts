import type { Change, ChangeContext, Hub, Published, Wanted } from '../contract/changes.js';

/**
 * Makes a source that a program publishes to. By default it may publish all. A subscription that is behind keeps each kind and
 * each URI once, so a slow reader costs no more than what it asked for.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { createHub, defineServer } from 'portcullis/server';
 *
 * const changes = createHub({ tools: true });
 * const client = await connect({ server: defineServer({ name: 'x', version: '1.0.0', tools: [{ name: 't', run: () => '' }], changes }) });
 * const subscription = await client.listen({ tools: true });
 * changes.toolsChanged();
 * for await (const change of subscription) {
 *   assert.equal(change.kind, 'tools');
 *   break;
 * }
 * await client.close();
 * ```
 */
export function createHub(publishes: Published = { tools: true, prompts: true, resources: true, updates: true }): Hub {
  const everyone = new Set<Subscription>();
  const by_uri = new Map<string, Set<Subscription>>();
  let ended = false;
  const leave = (subscription: Subscription): void => {
    if (!everyone.delete(subscription)) return;
    for (const uri of subscription.wanted.uris) {
      const watching = by_uri.get(uri);
      watching?.delete(subscription);
      if (watching?.size === 0) by_uri.delete(uri);
    }
  };
  const enter = (subscription: Subscription): void => {
    everyone.add(subscription);
    for (const uri of subscription.wanted.uris) {
      const watching = by_uri.get(uri);
      if (watching === undefined) by_uri.set(uri, new Set([subscription]));
      else watching.add(subscription);
    }
  };
  const listChanged = (kind: 'tools' | 'prompts' | 'resources') => () => {
    for (const subscription of everyone) if (subscription.wanted[kind]) subscription.offer(kind);
  };
  return {
    publishes: Object.freeze({ ...publishes }),
    open(wanted: Wanted, { signal }: ChangeContext) {
      const subscription = new Subscription(wanted, leave);
      if (ended || signal.aborted) subscription.end();
      else {
        enter(subscription);
        signal.addEventListener('abort', () => subscription.end(), { once: true });
      }
      return subscription;
    },
    toolsChanged: listChanged('tools'),
    promptsChanged: listChanged('prompts'),
    resourcesChanged: listChanged('resources'),
    resourceUpdated(uri) {
      for (const subscription of by_uri.get(uri) ?? []) subscription.offer('resource', uri);
    },
    end() {
      ended = true;
      for (const subscription of [...everyone]) subscription.end();
    },
    get subscribers() {
      return everyone.size;
    },
  };
}

class Subscription implements AsyncIterable<Change>, AsyncIterator<Change> {
  readonly wanted: Wanted;
  readonly #leave: (subscription: Subscription) => void;
  /** Lists by kind and resources by URI, each at most once, in order of arrival. */
  readonly #pending = new Map<string, Change>();
  #waiting: ((result: IteratorResult<Change>) => void) | undefined;
  #ended = false;

  constructor(wanted: Wanted, leave: (subscription: Subscription) => void) {
    this.wanted = wanted;
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  offer(kind: Change['kind'], uri = ''): void {
    if (this.#ended) return;
    const change: Change = kind === 'resource' ? { kind, uri } : { kind };
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting({ done: false, value: change });
    else this.#pending.set(`${kind} ${uri}`, change);
  }

  next(): Promise<IteratorResult<Change>> {
    const first = this.#pending.entries().next();
    if (first.done !== true) {
      this.#pending.delete(first.value[0]);
      return Promise.resolve({ done: false, value: first.value[1] });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<Change>> {
    this.end();
    this.#pending.clear();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Ends it after the pending changes. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#leave(this);
    this.#waiting?.({ done: true, value: undefined });
    this.#waiting = undefined;
  }
}
