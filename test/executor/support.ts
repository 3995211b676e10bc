import { ExecutorFault } from '../../src/executor/executor.js';

/** `ok`, or the code with which a submission was refused or given up; throws when the work itself failed. */
export function outcomeOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => 'ok',
    (cause: unknown) => {
      if (cause instanceof ExecutorFault) return cause.code;
      throw cause;
    },
  );
}

/** Lets every promise that can settle do so. */
export async function ticks(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}

/** Work that ignores its token and ends when the test says so. */
export function makeWork() {
  let running = 0;
  let done = false;
  const waiting: (() => void)[] = [];
  const work = {
    started: 0,
    peak: 0,
    run: (): Promise<void> => {
      work.started += 1;
      running += 1;
      work.peak = Math.max(work.peak, running);
      return new Promise<void>((resolve) => {
        if (done) resolve();
        else waiting.push(resolve);
      }).then(() => {
        running -= 1;
      });
    },
    finish: () => waiting.shift()?.(),
    /** Also what starts later. */
    finishAll: () => {
      done = true;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
  return work;
}
