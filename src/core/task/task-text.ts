import type { TaskRecord } from '../../contract/tasks.js';

/** Members of a task that every message about it has, JSON text. */
export function taskMembers({ id, status, message, created_at_ms, updated_at_ms, ttl_ms, poll_ms }: TaskRecord): string {
  const told = {
    taskId: id,
    status,
    statusMessage: message,
    createdAt: new Date(created_at_ms).toISOString(),
    lastUpdatedAt: new Date(updated_at_ms).toISOString(),
    ttlMs: ttl_ms,
    pollIntervalMs: poll_ms,
  };
  return JSON.stringify(told).slice(1, -1);
}

/** What a task asks, or what it came to. */
export function detailMembers({ status, requests, result, error }: TaskRecord): string {
  if (status === 'input_required') return `,"inputRequests":${JSON.stringify(requests ?? {})}`;
  if (status === 'completed') return `,"result":${result}`;
  return status === 'failed' ? `,"error":${error}` : '';
}
