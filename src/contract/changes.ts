import type { Identity } from './identity.js';

/** Something that changed: one of the lists, or one resource. */
export type Change = { readonly kind: 'tools' | 'prompts' | 'resources' } | { readonly kind: 'resource'; readonly uri: string };

/** Every kind of change that a source may publish. Other kinds are never acknowledged to a client. */
export interface Published {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** Updates of single resources. */
  readonly updates?: boolean;
}

/** What one subscription was acknowledged to get. Never empty. */
export interface Wanted {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  /** At most 1 000 URIs of resources that exist and that the caller may read. */
  readonly uris: ReadonlySet<string>;
}

/** Where changes come from. Opened once for each subscription. `createHub` makes one that fits most servers. */
export interface ChangeSource {
  readonly publishes: Published;
  /**
   * The changes for one subscription. The next one is asked for after the one before was written, so a slow reader is never run
   * away from. Changes that are not in `wanted` are dropped. Ending completes the subscription; `signal` aborts once, with the
   * `EndReason` as its reason, when it ends for any other cause, and the iterator is returned.
   */
  open(wanted: Wanted, context: ChangeContext): AsyncIterable<Change>;
}

/** Who listens, and until when: `signal` aborts when the subscription ends, for whatever reason. */
export interface ChangeContext {
  readonly identity: Identity | undefined;
  readonly signal: AbortSignal;
}

/** A source that a program publishes to. */
export interface Hub extends ChangeSource {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  resourceUpdated(uri: string): void;
  /** Completes every open subscription, and each later one at once. */
  end(): void;
  /** Open subscriptions. */
  readonly subscribers: number;
}
