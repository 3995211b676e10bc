import type { Clock } from '../contract/clock.js';
import { ConfigError } from '../errors/error.js';
import type { Explanation } from '../explain/explain.js';
import type { Question } from '../explain/question.js';

/** An explanation, or why there is none, with the HTTP status that says so. */
export type ExplainAnswer = { readonly explanation: Explanation } | { readonly status: 422 | 429 | 500 | 504; readonly why: string };

/** Less than the ops listener leaves a silent connection. */
const LIMIT_MS = 8_000;

/** Asks one question at a time: each opens the gates and may ask issuers. A question that lasts keeps its place until it is over. */
export class Asker {
  readonly #explain: (question: Question) => Promise<Explanation>;
  readonly #clock: Clock;
  #busy = false;

  constructor(explain: (question: Question) => Promise<Explanation>, clock: Clock) {
    this.#explain = explain;
    this.#clock = clock;
  }

  ask(question: Question): Promise<ExplainAnswer> {
    if (this.#busy) return Promise.resolve({ status: 429, why: 'Another question is being answered. Ask again in a moment.' });
    this.#busy = true;
    return new Promise((resolve) => {
      const late = this.#clock.timer(LIMIT_MS, () =>
        resolve({ status: 504, why: `The gates did not answer within ${LIMIT_MS / 1000} s.` }),
      );
      const settle = (answer: ExplainAnswer): void => {
        late.cancel();
        this.#busy = false;
        resolve(answer);
      };
      this.#explain(question).then(
        (explanation) => settle({ explanation }),
        (error) => settle(failureOf(error)),
      );
    });
  }
}

function failureOf(error: unknown): ExplainAnswer {
  if (error instanceof ConfigError) {
    const { where = '', message = '' } = error.problems[0] ?? {};
    return { status: 422, why: `The gates could not be opened: ${where}: ${message}` };
  }
  return { status: 500, why: 'The gates could not be asked.' };
}
