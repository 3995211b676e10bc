import type { Edit } from './hop.js';

/** One way of being refused: a column of the table. */
export interface Refusal {
  readonly name: string;
  /** The statuses that show that the call met this refusal and no other, by era. An era left out can't meet it. */
  readonly statuses: Readonly<Partial<Record<Era, readonly number[]>>>;
  /** What makes the call one to refuse: another tool or a longer text from the client itself, or an edit on the way. */
  readonly tool?: string;
  readonly text?: string;
  readonly edit?: Edit;
}

export type Era = 'legacy' | 'modern';

/** A body of more than `max_body_bytes`. */
const LONG = 'x'.repeat(200_000);

const always = (status: number) => ({ legacy: [status], modern: [status] });

/** The refusals that one client can meet while others go on. */
export const REFUSALS: readonly Refusal[] = [
  { name: '401', statuses: always(401), edit: { headers: { 'x-api-key': 'nobody' } } },
  { name: '403 who', statuses: always(403), edit: { headers: { 'x-api-key': 'stranger' } } },
  { name: '403 what', statuses: always(403), tool: 'forbidden' },
  { name: '404 method', statuses: { legacy: [200], modern: [404] }, edit: { method: 'tools/none' } },
  { name: '404 route', statuses: always(404), edit: { path: '/none' } },
  { name: '404 session', statuses: { legacy: [404] }, edit: { headers: { 'mcp-session-id': 'none' } } },
  { name: '413', statuses: always(413), text: LONG },
  { name: '413 chunked', statuses: always(413), text: LONG, edit: { chunked: true } },
  { name: '415', statuses: always(415), edit: { headers: { 'content-type': 'text/plain' } } },
  { name: '429', statuses: always(429), edit: { path: '/spent' } },
];

/** The refusals that all clients meet at once. */
export const DEAD_UPSTREAM: Refusal = { name: '502 dead upstream', statuses: always(502) };
export const DRAIN: Refusal = { name: '503 drain', statuses: always(503), edit: { half: true } };

export const COLUMNS: readonly string[] = [...REFUSALS, DEAD_UPSTREAM, DRAIN].map(({ name }) => name);

/** The config of a gateway whose routes refuse in all these ways. Two of them with one `upstream` serve one another's sessions. */
export const toConfig = (upstream: string, digest: (key: string) => string): string => `
listener:
  host: 127.0.0.1
  port: 0
  chunked_requests: accept
  limits: { max_body_bytes: 100000 }
  sessions: { keys: [a-key-of-the-refusals-table-0123456789] }
ops: { port: 0 }
gates:
  key:
    use: api-key
    options: { keys: [{ name: caller, sha256: ${digest('caller')} }, { name: stranger, sha256: ${digest('stranger')} }] }
  known: { use: principal-allow, options: { principals: ["api-key#caller"] } }
  tools: { use: method-allow, options: { tools: [echo] } }
  once: { use: rate, options: { limit: 1, window_ms: 86400000 } }
runtimes:
  server: { kind: proxied, url: "${upstream}" }
routes:
  - { path: /mcp, gates: [key, known, tools], runtime: server }
  - { path: /spent, gates: [key, once], runtime: server }
`;
