import type { SubmitOptions } from './executor.js';
import type { Place } from './fair-queue.js';
import { toKey } from './scopes.js';
import { Token } from './token.js';

/**
 * `granted`: a slot is taken, the work starts in the next microtask. `abandoned`: the caller was answered, the work goes on.
 * A job moves forward only.
 */
export type JobState = 'queued' | 'granted' | 'running' | 'abandoned' | 'ended';

/** One submitted call, with what every structure of the executor needs to find and remove it at once. */
export class Job {
  readonly token = new Token();
  /** Of its scope and id. */
  readonly key: string;
  state: JobState;
  resolve: (value: unknown) => void = ignore;
  reject: (cause: unknown) => void = ignore;
  /** Starts a job that waited. */
  grant: () => void = ignore;
  /** Takes the listener off the owner's signal. */
  disown: () => void = ignore;
  place: Place<Job> | undefined = undefined;
  due_ms = 0;
  heap_at = -1;
  previous_twin: Job | undefined = undefined;
  next_twin: Job | undefined = undefined;

  constructor(options: SubmitOptions, state: JobState) {
    this.key = toKey(options.scope, options.id);
    this.state = state;
  }
}

function ignore(): void {}
