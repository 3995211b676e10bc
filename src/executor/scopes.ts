import type { Job } from './job.js';

/** Every job that waits or runs, by scope: nothing is kept of a scope without any. Finding costs what the scope itself has open. */
export class Scopes {
  readonly #first = new Map<string, Job>();

  add(job: Job): void {
    const first = this.#first.get(job.scope);
    if (first === undefined) {
      this.#first.set(job.scope, job);
      return;
    }
    job.previous_in_scope = first;
    job.next_in_scope = first.next_in_scope;
    if (first.next_in_scope !== undefined) first.next_in_scope.previous_in_scope = job;
    first.next_in_scope = job;
  }

  remove(job: Job): void {
    const { previous_in_scope: previous, next_in_scope: next } = job;
    if (next !== undefined) next.previous_in_scope = previous;
    if (previous !== undefined) previous.next_in_scope = next;
    else if (next !== undefined) this.#first.set(job.scope, next);
    else this.#first.delete(job.scope);
    job.previous_in_scope = undefined;
    job.next_in_scope = undefined;
  }

  find(scope: string, id: string): readonly Job[] {
    const found: Job[] = [];
    for (let job = this.#first.get(scope); job !== undefined; job = job.next_in_scope) if (job.id === id) found.push(job);
    return found;
  }

  all(): readonly Job[] {
    const found: Job[] = [];
    for (const first of this.#first.values())
      for (let job: Job | undefined = first; job !== undefined; job = job.next_in_scope) found.push(job);
    return found;
  }
}
