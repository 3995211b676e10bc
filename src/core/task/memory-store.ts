import type { Clock } from '../../contract/clock.js';
import type { TaskRecord, TaskStore } from '../../contract/tasks.js';

export interface MemoryTaskStoreOptions {
  readonly clock: Clock;
  readonly max: number;
  readonly max_per_caller: number;
}

/** Tasks in this process. A task is forgotten when its time is over, or, once it has ended, when room is needed: the one that began first. */
export function createMemoryTaskStore({ clock, max, max_per_caller }: MemoryTaskStoreOptions): TaskStore {
  /** Oldest first. */
  const tasks = new Map<string, TaskRecord>();
  const watchers = new Map<string, Set<(task: TaskRecord) => void>>();
  const forget = (id: string): void => {
    tasks.delete(id);
    watchers.delete(id);
  };
  const prune = (): void => {
    const now_ms = clock.now_ms();
    for (const { id, created_at_ms, ttl_ms } of tasks.values()) if (created_at_ms + ttl_ms <= now_ms) forget(id);
  };
  /** Forgets the oldest that has ended; false: there is none. */
  const evict = (owner: string | undefined): boolean => {
    for (const task of tasks.values()) {
      if (!hasEnded(task) || (owner !== undefined && task.owner !== owner)) continue;
      forget(task.id);
      return true;
    }
    return false;
  };
  return {
    create(task) {
      prune();
      const own = task.owner === '' ? 0 : [...tasks.values()].filter(({ owner }) => owner === task.owner).length;
      if (own >= max_per_caller && !evict(task.owner)) return false;
      if (tasks.size >= max && !evict(undefined)) return false;
      tasks.set(task.id, task);
      return true;
    },
    get(id) {
      prune();
      return tasks.get(id);
    },
    update(id, version, change) {
      const task = tasks.get(id);
      if (task === undefined || task.version !== version) return undefined;
      const changed = { ...task, ...change, version: version + 1 };
      tasks.set(id, changed);
      for (const told of watchers.get(id) ?? []) told(changed);
      return changed;
    },
    watch(id, told) {
      const own = watchers.get(id) ?? new Set();
      watchers.set(id, own.add(told));
      return () => {
        own.delete(told);
        if (own.size === 0 && watchers.get(id) === own) watchers.delete(id);
      };
    },
  };
}

/** It changes no more. */
export function hasEnded({ status }: TaskRecord): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
