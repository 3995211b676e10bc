/** MCP methods that a client may send in any served revision; every other name is `other`, an absent one `none`. */
export const METHODS: readonly string[] = [
  'other',
  'none',
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'tasks/get',
  'tasks/update',
  'tasks/list',
  'tasks/result',
  'tasks/cancel',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
];

export const REVISIONS: readonly string[] = ['other', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

/** JSON-RPC error codes of JSON-RPC 2.0 and of the MCP revisions, as label values. */
export const RPC_CODES: readonly string[] = [
  '-32700',
  '-32600',
  '-32601',
  '-32602',
  '-32603',
  '-32000',
  '-32001',
  '-32002',
  '-32020',
  '-32021',
  '-32022',
  '-32042',
];

export const OUTCOMES: readonly string[] = [
  'other',
  'ok',
  'tool_error',
  'rpc_error',
  'refused',
  'timeout',
  'cancelled',
  'upstream_error',
  'overloaded',
];

export const ERAS: readonly string[] = ['other', 'modern', 'legacy'];
export const VERDICTS: readonly string[] = ['other', 'pass', 'identify', 'refuse', 'serve', 'timeout', 'failed'];
export const QUESTION_OUTCOMES: readonly string[] = ['answered', 'declined', 'refused', 'unattributed', 'expired', 'error'];
export const BRIDGE_DIRECTIONS: readonly string[] = ['other', 'to_legacy', 'to_modern'];
export const ERA_OUTCOMES: readonly string[] = ['modern', 'legacy', 'inconclusive'];
export const HELD_ENDS: readonly string[] = ['answered', 'expired', 'finished', 'drain'];
export const SESSION_ENDS: readonly string[] = ['idle', 'evicted', 'lost', 'drain', 'failed', 'flip'];
/** Requests that MCP servers send to their clients in any served revision. */
export const QUESTIONS: readonly string[] = ['other', 'elicitation/create', 'sampling/createMessage', 'roots/list'];
export const CODE_CLASSES: readonly string[] = ['other', '1xx', '2xx', '3xx', '4xx', '5xx', 'error'];
export const STREAM_KINDS: readonly string[] = ['other', 'listen', 'get', 'response'];
export const END_REASONS: readonly string[] = [
  'other',
  'client',
  'source',
  'lifetime',
  'identity_expired',
  'slow_consumer',
  'drain',
  'deadline',
  'error',
];
export const LIMIT_REASONS: readonly string[] = ['other', 'limit', 'drain'];
export const LIMITED_KINDS: readonly string[] = ['other', 'wait', 'call', 'stream'];
export const KILL_KINDS: readonly string[] = ['other', 'connection', 'stream', 'call', 'child', 'held'];

/** Position of a value in one of the sets above; 0, which is `other`, for a value outside it. */
export function positions(set: readonly string[]): (value: string) => number {
  const map = new Map(set.map((value, index) => [value, index]));
  return (value) => map.get(value) ?? 0;
}
