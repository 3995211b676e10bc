import { isThenable } from '../../executor/thenable.js';

/** Calls `next` and runs `settled` once when it has come to its end, before anybody learns how. At once when it answers at once. */
export function whenSettled(next: () => Promise<unknown> | unknown, settled: () => void): Promise<unknown> | unknown {
  let answer: unknown;
  try {
    answer = next();
  } catch (cause) {
    settled();
    throw cause;
  }
  if (!isThenable(answer)) {
    settled();
    return answer;
  }
  return Promise.resolve(answer).then(
    (value) => {
      settled();
      return value;
    },
    (cause: unknown) => {
      settled();
      throw cause;
    },
  );
}
