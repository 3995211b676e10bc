import { randomUUID } from 'node:crypto';
import type { Ask, InputResponses } from '../../contract/handler.js';
import type { Identity } from '../../contract/identity.js';
import { isObject } from '../call/params.js';
import { faultReply, type Reply } from '../call/reply.js';
import type { CoreRequest } from '../call/request.js';

/** What became of the questions of one round. */
export type Answers =
  | { readonly kind: 'answered'; readonly responses: InputResponses }
  /** The client answered one with an error. */
  | { readonly kind: 'refused'; reply(request: CoreRequest): Exclude<Reply, { readonly kind: 'ask' }> };

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
  ask(ask: Ask, through: AskThrough): PendingInput | undefined {
    const questions = Object.entries(ask.requests ?? {});
    if (this.#open.size + questions.length > MAX_OPEN) return undefined;
    const round = new QuestionRound(questions.length, callerOf(through.identity));
    const ids = questions.map(([key, question]) => {
      const id = randomUUID();
      this.#open.set(id, { key, round });
      through.send(JSON.stringify({ jsonrpc: '2.0', id, ...question }));
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
    const question = typeof id === 'string' ? this.#open.get(id) : undefined;
    if (question === undefined || question.round.caller !== callerOf(identity)) return;
    this.#open.delete(id as string);
    const { result } = JSON.parse(body.toString('utf8')) as { readonly result?: unknown };
    if (isObject(result)) question.round.take(question.key, result);
    else question.round.refuse();
  }
}

interface OpenQuestion {
  readonly key: string;
  readonly round: QuestionRound;
}

const MAX_OPEN = 1024;

class QuestionRound {
  readonly caller: string;
  readonly answers: Promise<Answers>;
  readonly #responses: Record<string, Readonly<Record<string, unknown>>> = {};
  #left: number;
  #resolve: (answers: Answers) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(count: number, caller: string) {
    this.caller = caller;
    this.#left = count;
    this.answers = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (count === 0) this.#resolve({ kind: 'answered', responses: {} });
  }

  take(key: string, result: Readonly<Record<string, unknown>>): void {
    Object.defineProperty(this.#responses, key, { value: result, enumerable: true });
    this.#left -= 1;
    if (this.#left === 0) this.#resolve({ kind: 'answered', responses: this.#responses });
  }

  refuse(): void {
    const detail = 'The client answered a question of the server with an error.';
    this.#resolve({ kind: 'refused', reply: (request) => faultReply(request, { code: 'MISSING_CAPABILITY', detail }) });
  }

  abandon(): void {
    this.#reject(new Error('abandoned'));
  }
}

function callerOf(identity: Identity | undefined): string {
  return identity === undefined ? '' : JSON.stringify([identity.issuer, identity.principal, identity.client ?? '']);
}
