import type { Clock } from '../contract/clock.js';
import { AbortSignals, Deadlines, ExecutorDrain } from './endings.js';
import {
  CANCELLED,
  type CancelReason,
  type CancelToken,
  DEADLINE,
  type Drained,
  type Executor,
  type ExecutorFault,
  type ExecutorLoad,
  type ExecutorOptions,
  isThenable,
  OVERLOADED,
  SHUTDOWN,
  type SubmitOptions,
  Token,
  toFault,
} from './executor.js';
import { FairQueue, type QueuePlace } from './fair-queue.js';

/**
 * A new, empty executor. It owns at most one timer.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { createExecutor, systemClock } from 'portcullis/server';
 *
 * const executor = createExecutor({ clock: systemClock, max_concurrency: 2, max_queue: 10 });
 * assert.equal(await executor.submit(() => 42, { scope: 'jobs', id: '1', fairness_key: 'me', deadline_ms: 1_000 }), 42);
 * await executor.drain(1_000);
 * ```
 */
export function createExecutor(options: ExecutorOptions): Executor {
  return new BoundedExecutor(
    {
      max_concurrency: toCount('max_concurrency', options.max_concurrency ?? 32),
      max_queue: toCount('max_queue', options.max_queue ?? 256),
      max_orphaned: toCount('max_orphaned', options.max_orphaned ?? 1024),
    },
    options.clock,
  );
}

function toCount(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`executor: ${name} must be a positive integer, not ${String(value)}`);
}

interface Bounds {
  readonly max_concurrency: number;
  readonly max_queue: number;
  readonly max_orphaned: number;
}

/**
 * The executor. A job is in `#scopes` and, if it has one, under its deadline exactly while its caller waits; `#end` and `#settle` are the only ways
 * out. At all times `running + orphaned <= max_concurrency + max_orphaned`, and nothing waits while a slot is free.
 */
class BoundedExecutor implements Executor {
  readonly #bounds: Bounds;
  readonly #clock: Clock;
  readonly #queue: FairQueue<BoundedJob>;
  readonly #scopes = new Scopes();
  readonly #deadlines: Deadlines<BoundedJob>;
  readonly #abortSignals = new AbortSignals<BoundedJob>((job) => this.#end(job, 'owner'));
  #running = 0;
  #orphaned = 0;
  #drain: ExecutorDrain | undefined;

  constructor(bounds: Bounds, clock: Clock) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#queue = new FairQueue(bounds.max_queue);
    this.#deadlines = new Deadlines(clock, (job) => this.#end(job, 'deadline'));
  }

  get load(): ExecutorLoad {
    return { running: this.#running, queued: this.#queue.size, orphaned: this.#orphaned };
  }

  submit<T>(work: (token: CancelToken) => Promise<T> | T, options: SubmitOptions): Promise<T> {
    const refused = this.#refusal(options);
    if (refused !== undefined) return Promise.reject(refused);
    const starts = this.#hasSlot();
    const job = new BoundedJob(options, starts ? 'granted' : 'queued');
    if (starts) this.#running += 1;
    else {
      job.place = this.#queue.push(options.fairness_key, job, (displaced) => this.#displace(displaced));
      if (job.place === undefined) return Promise.reject(OVERLOADED);
    }
    const answer = new Promise<T>((resolve, reject) => {
      job.resolve = resolve as (value: unknown) => void;
      job.reject = reject;
    });
    this.#keep(job, options);
    if (starts) this.#start(job, work);
    // A callback of this promise runs in the submitter's async context, not in that of the call that frees the slot.
    else new Promise<void>((grant) => (job.grant = grant)).then(() => this.#start(job, work), undefined);
    return answer;
  }

  cancel(scope: string, id: string): boolean {
    const found = this.#scopes.find(toKey(scope, id));
    for (const job of found) this.#end(job, 'cancelled');
    return found.length > 0;
  }

  drain(deadline_ms: number): Promise<Drained> {
    this.#drain ??= new ExecutorDrain(this.#clock, () => {
      for (const job of this.#scopes.all()) this.#end(job, 'shutdown');
    });
    const { result } = this.#drain;
    this.#drain.endWithin(deadline_ms);
    this.#checkDrain();
    return result;
  }

  #refusal(options: SubmitOptions): ExecutorFault | undefined {
    if (this.#drain !== undefined) return SHUTDOWN;
    if (options.signal?.aborted === true) return CANCELLED;
    if (options.deadline_ms !== undefined && !(options.deadline_ms > 0)) return DEADLINE;
    return this.#orphaned > this.#bounds.max_orphaned ? OVERLOADED : undefined;
  }

  #hasSlot(): boolean {
    const kept = this.#orphaned > this.#bounds.max_orphaned ? this.#orphaned - this.#bounds.max_orphaned : 0;
    return this.#running + kept < this.#bounds.max_concurrency;
  }

  #keep(job: BoundedJob, options: SubmitOptions): void {
    this.#scopes.add(job);
    if (options.deadline_ms !== undefined) this.#deadlines.add(job, options.deadline_ms);
    if (options.signal !== undefined) job.disown = this.#abortSignals.add(options.signal, job);
  }

  #letGo(job: BoundedJob): void {
    this.#scopes.remove(job);
    this.#deadlines.remove(job);
    job.disown();
  }

  #start<T>(job: BoundedJob, work: (token: CancelToken) => Promise<T> | T): void {
    if (job.state !== 'granted') return;
    job.state = 'running';
    try {
      const result = work(job.token);
      if (!isThenable(result)) this.#settle(job, job.resolve, result);
      else
        Promise.resolve(result).then(
          (value) => this.#settle(job, job.resolve, value),
          (cause: unknown) => this.#settle(job, job.reject, cause),
        );
    } catch (cause) {
      this.#settle(job, job.reject, cause);
    }
  }

  /** The callback returned. */
  #settle(job: BoundedJob, tell: (value: unknown) => void, value: unknown): void {
    if (job.state === 'orphaned') this.#orphaned -= 1;
    else {
      this.#running -= 1;
      this.#letGo(job);
      tell(value);
      this.#drain?.finished();
    }
    job.state = 'ended';
    this.#grantSlots();
    this.#checkDrain();
  }

  /** The caller no longer waits. */
  #end(job: BoundedJob, reason: CancelReason): void {
    if (job.state === 'orphaned' || job.state === 'ended') return;
    if (job.state === 'queued') this.#queue.remove(job.place as NonNullable<BoundedJob['place']>);
    else this.#running -= 1;
    if (job.state === 'running') this.#orphaned += 1;
    this.#giveUp(job, toFault(reason));
    if (reason === 'shutdown') this.#drain?.killed();
    else this.#drain?.finished();
    this.#grantSlots();
    job.token.cancel(reason);
    this.#checkDrain();
  }

  #displace(job: BoundedJob): void {
    this.#giveUp(job, OVERLOADED);
  }

  #giveUp(job: BoundedJob, fault: ExecutorFault): void {
    job.state = job.state === 'running' ? 'orphaned' : 'ended';
    this.#letGo(job);
    job.reject(fault);
  }

  #grantSlots(): void {
    while (this.#queue.size > 0 && this.#hasSlot()) {
      const job = this.#queue.take() as BoundedJob;
      this.#running += 1;
      job.state = 'granted';
      job.grant();
    }
  }

  #checkDrain(): void {
    if (this.#drain === undefined || this.#running > 0 || this.#queue.size > 0) return;
    this.#deadlines.stop();
    this.#drain.end();
  }
}

/**
 * `granted`: a slot is taken, the work starts in the next microtask. `orphaned`: the caller was answered, the work goes on.
 * A job moves forward only.
 */
type JobState = 'queued' | 'granted' | 'running' | 'orphaned' | 'ended';

/** One submitted call, with what every structure of the executor needs to find and remove it at once. */
class BoundedJob {
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
  place: QueuePlace<BoundedJob> | undefined = undefined;
  due_ms = 0;
  heap_at = -1;
  previous_twin: BoundedJob | undefined = undefined;
  next_twin: BoundedJob | undefined = undefined;

  constructor(options: SubmitOptions, state: JobState) {
    this.key = toKey(options.scope, options.id);
    this.state = state;
  }
}

function ignore(): void {}

/** Every job that waits or runs, by (scope, id), in constant time. Jobs with the same pair are twins in one list. */
class Scopes {
  readonly #first = new Map<string, BoundedJob>();

  add(job: BoundedJob): void {
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

  remove(job: BoundedJob): void {
    const { previous_twin: previous, next_twin: next } = job;
    if (next !== undefined) next.previous_twin = previous;
    if (previous !== undefined) previous.next_twin = next;
    else if (next !== undefined) this.#first.set(job.key, next);
    else this.#first.delete(job.key);
    job.previous_twin = undefined;
    job.next_twin = undefined;
  }

  find(key: string): readonly BoundedJob[] {
    return twinsFrom(this.#first.get(key));
  }

  all(): readonly BoundedJob[] {
    return [...this.#first.values()].flatMap(twinsFrom);
  }
}

/** Never equal for two different pairs, whatever characters are in them. */
function toKey(scope: string, id: string): string {
  return `${scope.length} ${scope}${id}`;
}

function twinsFrom(first: BoundedJob | undefined): readonly BoundedJob[] {
  const twins: BoundedJob[] = [];
  for (let job = first; job !== undefined; job = job.next_twin) twins.push(job);
  return twins;
}
