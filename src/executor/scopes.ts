import type { Job } from './job.js';

/** Every job that waits or runs, by (scope, id), in constant time. Jobs that share both are twins in one chain. */
export class Scopes {
  readonly #first = new Map<string, Job>();

  add(job: Job): void {
    const first = this.#first.get(job.key);
    if (first === undefined) {
      this.#first.set(job.key, job);
      return;
    }
    job.previous_twin = first;
    job.next_twin = first.next_twin;
    if (first.next_twin !== undefined) first.next_twin.previous_twin = job;
    first.next_twin = job;
  }

  remove(job: Job): void {
    const { previous_twin: previous, next_twin: next } = job;
    if (next !== undefined) next.previous_twin = previous;
    if (previous !== undefined) previous.next_twin = next;
    else if (next !== undefined) this.#first.set(job.key, next);
    else this.#first.delete(job.key);
    job.previous_twin = undefined;
    job.next_twin = undefined;
  }

  find(key: string): readonly Job[] {
    return twinsFrom(this.#first.get(key));
  }

  all(): readonly Job[] {
    return [...this.#first.values()].flatMap(twinsFrom);
  }
}

/** Never equal for two different pairs, whatever characters are in them. */
export function toKey(scope: string, id: string): string {
  return `${scope.length} ${scope}${id}`;
}

function twinsFrom(first: Job | undefined): readonly Job[] {
  const twins: Job[] = [];
  for (let job = first; job !== undefined; job = job.next_twin) twins.push(job);
  return twins;
}
