import type { Clock } from '../contract/clock.js';
import { CODES } from '../errors/codes.js';
import type { Denial } from '../listener/request/request-environment.js';
import type { DenialEntry } from './denials.js';

/** Refusals of one code, gate and route, or failures of admitted calls, as the status page tells them. The texts are of the latest one. */
export interface RecentRow {
  /** `refused` before or by the gates; `failed` behind them. */
  readonly kind: 'refused' | 'failed';
  readonly code: string;
  readonly status: number;
  /** Config name of the gate; empty when no gate refused. */
  readonly gate: string;
  /** Config path of the route; empty when none was found. */
  readonly route: string;
  readonly count: number;
  readonly first_at_ms: number;
  readonly last_at_ms: number;
  readonly request_id: string;
  readonly client_address: string;
  readonly http_method: string;
  /** As the client wrote it, cut; without the query. */
  readonly path: string;
}

type Event = Omit<RecentRow, 'count' | 'first_at_ms' | 'last_at_ms'>;

const MAX_ROWS = 64;
const MAX_PATH = 200;

/**
 * What was refused and what failed lately: equal ones are one row with a count, at most 64 rows, the row that is quiet the longest
 * is forgotten first. A flood costs one look-up each; what is admitted costs nothing.
 */
export class Recent {
  readonly #clock: Clock;
  readonly #rows = new Map<string, RecentRow>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Latest first. */
  get rows(): readonly RecentRow[] {
    return [...this.#rows.values()].reverse();
  }

  note(event: Event): void {
    const now = this.#clock.now_ms();
    const key = `${event.kind} ${event.code} ${event.gate} ${event.route}`;
    const before = this.#rows.get(key);
    const path = event.path.length > MAX_PATH ? `${event.path.slice(0, MAX_PATH)}…` : event.path;
    const row = { ...event, path, count: (before?.count ?? 0) + 1, first_at_ms: before?.first_at_ms ?? now, last_at_ms: now };
    this.#rows.delete(key);
    if (this.#rows.size >= MAX_ROWS) this.#rows.delete(this.#rows.keys().next().value as string);
    this.#rows.set(key, row);
  }
}

/** Tells `recent` too what is refused and what fails. Admissions go their way as before. */
export function withRecent(told: DenialEntry, recent: Recent): DenialEntry {
  return {
    ...told,
    denied(denial) {
      told.denied(denial);
      recent.note(toRefusal(denial));
    },
    refused(code, request_id, client_address) {
      told.refused(code, request_id, client_address);
      const { status } = CODES[code];
      recent.note({ kind: 'refused', code, status, gate: '', route: '', request_id, client_address, http_method: '', path: '' });
    },
    failed(call, error, request_id) {
      told.failed(call, error, request_id);
      const { code, status } = error;
      const head = call?.head;
      recent.note({
        kind: 'failed',
        code,
        status,
        gate: '',
        route: call?.route.path ?? '',
        request_id,
        client_address: head?.peer.client_address ?? '',
        http_method: head?.method ?? '',
        path: head?.path ?? '',
      });
    },
  };
}

function toRefusal({ head, route, gate, status, code }: Denial): Event {
  const { id: request_id, method: http_method, path, peer } = head;
  return { kind: 'refused', code, status, gate, route, request_id, client_address: peer.client_address, http_method, path };
}
