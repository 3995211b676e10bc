import type { Status } from '../../src/status/status.js';

/** A state of a gateway that serves, for what renders it. */
export function statusWith(changes: Partial<Status> = {}): Status {
  return {
    version: '1.2.3',
    url: 'https://mcp.example.com',
    at_ms: Date.UTC(2026, 0, 2, 3, 4, 5),
    started_at_ms: Date.UTC(2026, 0, 1),
    ready: true,
    reason: 'serving',
    problems: [],
    drain: { state: 'serving', remaining: 0, began_at_ms: undefined, of: undefined, delay_ms: 0, timeout_ms: 5000 },
    connections: { running: 2, idle: 1 },
    max_connections: 1024,
    subscriptions: { open: 3, max: 256 },
    routes: [
      {
        path: '/files/mcp',
        url: 'https://mcp.example.com/files/mcp',
        public: false,
        gates: ['token'],
        runtime: 'files',
        in_flight: 2,
        streams: { listen: 1 },
        requests: { ok: 1200, refused: 3 },
      },
    ],
    gates: [{ name: 'token', use: 'oauth-bearer', passed: 1200, refused: 3, failed: 0 }],
    runtimes: [{ name: 'files', kind: 'proxied', health: 'ready', restarts: {}, answers: { '2xx': 1200, error: 2 } }],
    keys: [{ gate: 'token', keys: 2, age_s: 61, overdue: false, loads: { ok: 4 } }],
    recent: [
      {
        kind: 'refused',
        code: 'NO_ROUTE',
        status: 404,
        gate: '',
        route: '',
        count: 3,
        first_at_ms: Date.UTC(2026, 0, 2, 3),
        last_at_ms: Date.UTC(2026, 0, 2, 3, 4),
        request_id: 'abc-1',
        client_address: '192.0.2.7',
        http_method: 'POST',
        path: '/nowhere',
      },
    ],
    reloads: { succeeded: 1, failed: 0, last: undefined },
    config: { file: '/etc/portcullis/portcullis.yaml', warnings: [], values: { listener: { port: 8080 } } },
    ...changes,
  };
}

/** A text that would be a script, end an attribute or turn the text around it. */
export const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>\u202e`;

/** The state with every text in it turned into this one; numbers, and words of closed sets, stay. */
export function poisoned(status: Status, text = HOSTILE): Status {
  const kept = new Set(['kind', 'state', 'health', 'reason', 'outcome', 'level', 'part', 'code']);
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return kept.has(key) ? value : text;
    if (Array.isArray(value)) return value.map((item) => walk(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, name)]));
  };
  const named = {
    ...status,
    connections: { [text]: 1 },
    runtimes: status.runtimes.map((runtime) => ({ ...runtime, restarts: { [text]: 1 }, answers: { [text]: 1 } })),
    config: { ...status.config, values: { [text]: text } },
  };
  const reloads = { succeeded: 0, failed: 1, last: { at_ms: 0, outcome: 'failed' as const, restart: [text], problems: [text] } };
  return { ...(walk(named, '') as Status), reloads };
}
