import { randomUUID } from 'node:crypto';
import type { Identity } from '../../contract/identity.js';
import { memberAt } from '../../wire/edit.js';
import { toRaw } from '../../wire/text.js';

/** A question to a client. */
export interface Question {
  /** What its answer is called in the round. */
  readonly key: string;
  readonly method: string;
  /** JSON text of an object; undefined: none. */
  readonly params: string | undefined;
}

/** What became of the questions of one round. */
export type Answers =
  /** Each result by its key: JSON text of an object. */
  | { readonly kind: 'answered'; readonly responses: ReadonlyMap<string, string> }
  /** The client answered one with an error. */
  | { readonly kind: 'refused'; readonly question: Question; readonly message: string | undefined };

export interface PendingInput {
  /** Rejects when the round is abandoned. */
  readonly answers: Promise<Answers>;
  /** The call is over: late answers are ignored. */
  abandon(): void;
}

export interface AskThrough {
  readonly identity: Identity | undefined;
  /** Sends one request, whole JSON text, to the client. */
  send(json: string): void;
  /** A person may answer: the deadline is the longest there is. */
  questioned(): void;
  /** The result that stands for an error of the client, JSON text; absent or undefined: the round is refused. */
  instead?(question: Question): string | undefined;
}

/**
 * The requests that legacy clients were sent and have not answered (MCP 2025-11-25 and before, server-initiated requests). An answer
 * comes in a separate POST, to the same process; its id, 122 random bits, is what connects them, and only the caller who was
 * asked can answer. At most 1 024 are open.
 */
export class Questions {
  readonly #open = new Map<string, OpenQuestion>();

  get open(): number {
    return this.#open.size;
  }

  /** Undefined: too many are open. Without questions the round is answered at once. */
  ask(questions: readonly Question[], through: AskThrough): PendingInput | undefined {
    if (this.#open.size + questions.length > MAX_OPEN) return undefined;
    const round = new QuestionRound(questions.length, callerOf(through.identity), through);
    const ids = questions.map((question) => {
      const id = randomUUID();
      this.#open.set(id, { question, round });
      const params = question.params === undefined ? '' : `,"params":${question.params}`;
      through.send(`{"jsonrpc":"2.0","id":"${id}","method":"${question.method}"${params}}`);
      return id;
    });
    through.questioned();
    const forget = () => {
      for (const id of ids) this.#open.delete(id);
    };
    round.answers.then(forget, forget);
    return { answers: round.answers, abandon: () => round.abandon() };
  }

  /** Takes a client's response object; one that answers nothing, or comes from somebody else, is dropped. */
  answer(raw_id: string | undefined, body: Buffer, identity: Identity | undefined): void {
    const id: unknown = raw_id === undefined ? undefined : JSON.parse(raw_id);
    const asked = typeof id === 'string' ? this.#open.get(id) : undefined;
    if (asked === undefined || asked.round.caller !== callerOf(identity)) return;
    this.#open.delete(id as string);
    const result = memberAt(body, 'result');
    if (result !== undefined && body[result.value] === OBJECT) asked.round.take(asked.question.key, toRaw(body, result.value, result.to));
    else asked.round.refuse(asked.question, messageOf(body));
  }
}

interface OpenQuestion {
  readonly question: Question;
  readonly round: QuestionRound;
}

const MAX_OPEN = 1024;
const OBJECT = 0x7b;

class QuestionRound {
  readonly caller: string;
  readonly answers: Promise<Answers>;
  readonly #through: AskThrough;
  readonly #responses = new Map<string, string>();
  #left: number;
  #resolve: (answers: Answers) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(count: number, caller: string, through: AskThrough) {
    this.caller = caller;
    this.#through = through;
    this.#left = count;
    this.answers = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (count === 0) this.#resolve({ kind: 'answered', responses: this.#responses });
  }

  take(key: string, result: string): void {
    this.#responses.set(key, result);
    this.#left -= 1;
    if (this.#left === 0) this.#resolve({ kind: 'answered', responses: this.#responses });
  }

  refuse(question: Question, message: string | undefined): void {
    const instead = this.#through.instead?.(question);
    if (instead === undefined) this.#resolve({ kind: 'refused', question, message });
    else this.take(question.key, instead);
  }

  abandon(): void {
    this.#reject(new Error('abandoned'));
  }
}

/** The message of the error that a client answered with. */
function messageOf(body: Buffer): string | undefined {
  const message = memberAt(body, 'error', 'message');
  return message === undefined || body[message.value] !== QUOTE
    ? undefined
    : (JSON.parse(toRaw(body, message.value, message.to)) as string).slice(0, MAX_MESSAGE);
}

const QUOTE = 0x22;
const MAX_MESSAGE = 500;

function callerOf(identity: Identity | undefined): string {
  return identity === undefined ? '' : JSON.stringify([identity.issuer, identity.principal, identity.client ?? '']);
}
