import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../contract/clock.js';

export interface LiveOptions {
  readonly clock: Clock;
  /** Every part of the page as HTML by id. Asked every `period_ms` while somebody watches, and never otherwise. */
  render(): ReadonlyMap<string, string>;
  /** Default 16. */
  readonly max_watchers?: number;
  /** Default 2000. */
  readonly period_ms?: number;
}

/** What a watcher may have unread before it is cut off. */
const MAX_UNREAD_BYTES = 1_048_576;

/** Sends the parts of the page that have changed to everybody who watches, as server-sent events. */
export class Live {
  readonly #options: LiveOptions;
  readonly #watchers = new Set<ServerResponse>();
  #shown: ReadonlyMap<string, string> = new Map();
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Takes a response over and sends every part at once. False, and nothing is done: there are too many watchers, or it is over. */
  watch(response: ServerResponse): boolean {
    const { max_watchers = 16, period_ms = 2000, clock, render } = this.#options;
    if (this.#closed || this.#watchers.size >= max_watchers) return false;
    // Those who watch already get what changed at the next turn.
    const parts = render();
    if (this.#watchers.size === 0) this.#shown = parts;
    response.writeHead(200, HEADERS);
    response.write(`retry: 5000\n\n${[...parts].map(toEvent).join('')}`);
    this.#watchers.add(response);
    response.on('close', () => this.#forget(response));
    this.#timer ??= clock.interval(period_ms, () => this.#turn());
    return true;
  }

  /** Tells everybody that it is over. */
  close(): void {
    if (this.#closed) return;
    this.#turn();
    this.#closed = true;
    for (const watcher of [...this.#watchers]) {
      watcher.end('event: end\ndata: {}\n\n');
      this.#forget(watcher);
    }
  }

  #turn(): void {
    if (this.#watchers.size === 0) return;
    const parts = this.#render();
    const changed = [...parts].filter(([id, text]) => this.#shown.get(id) !== text);
    this.#shown = parts;
    // A comment when nothing changed: a silent connection would be closed.
    const events = changed.length === 0 ? ':\n\n' : changed.map(toEvent).join('');
    for (const watcher of [...this.#watchers]) {
      if (watcher.writableLength > MAX_UNREAD_BYTES) watcher.destroy();
      else watcher.write(events);
    }
  }

  /** A part that fails to render keeps its old content: a timer has no caller to report to, and the page must not stop the gateway. */
  #render(): ReadonlyMap<string, string> {
    try {
      return this.#options.render();
    } catch {
      return this.#shown;
    }
  }

  #forget(watcher: ServerResponse): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  // Proxies that gather an answer before they pass it on let this one through.
  'x-accel-buffering': 'no',
};

function toEvent([id, html]: readonly [string, string]): string {
  return `event: part\ndata: ${JSON.stringify({ id, html })}\n\n`;
}
