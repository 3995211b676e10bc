import { isObject } from '../core/call/params.js';
import { type Bound, bounded } from './bounded.js';
import { ClientError } from './client-error.js';
import type { JsonObject } from './messages.js';
import type { Callbacks } from './options.js';

/** The capabilities that these callbacks stand for. */
export function capabilitiesOf({ elicit, sample, roots }: Callbacks): JsonObject {
  return {
    ...(elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
    ...(sample === undefined ? {} : { sampling: {} }),
    ...(roots === undefined ? {} : { roots: {} }),
  };
}

/** What a callback answers to one question of the server. Undefined: there is none for it. Rejects with what the callback threw, or returned wrongly. */
export async function answerQuestion(
  callbacks: Callbacks,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  switch (method) {
    case 'elicitation/create':
      return callbacks.elicit === undefined ? undefined : toAnswer(await callbacks.elicit(params as never, signal));
    case 'sampling/createMessage':
      return callbacks.sample === undefined ? undefined : toAnswer(await callbacks.sample(params as never, signal));
    case 'roots/list': {
      if (callbacks.roots === undefined) return undefined;
      const roots: unknown = await callbacks.roots(signal);
      if (!Array.isArray(roots)) throw new TypeError(`it returned ${typeOf(roots)}, not a list of roots`);
      return { roots };
    }
    default:
      return undefined;
  }
}

/** An answer of another type would be left out of the message, and the server would ask again. */
function toAnswer(answer: unknown): JsonObject {
  if (!isObject(answer)) throw new TypeError(`it returned ${typeOf(answer)}, not an object`);
  return answer;
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `${typeof value}`;
}

/** True when there is a callback for this question. */
export function canAnswer(callbacks: Callbacks, method: string): boolean {
  const callback = Object.hasOwn(CALLBACKS, method) ? CALLBACKS[method] : undefined;
  return callback !== undefined && callbacks[callback] !== undefined;
}

/**
 * The answers to what a modern server needs before it goes on (MCP Multi Round-Trip Requests), by its keys. Rejects with ClientError,
 * also when a callback takes too long or the call is cancelled meanwhile.
 */
export async function answerAll(callbacks: Callbacks, requests: unknown, bound: Bound): Promise<JsonObject | undefined> {
  if (requests === undefined) return undefined;
  if (!isObject(requests)) throw new ClientError('BROKEN', 'inputRequests is not an object');
  const questions = Object.entries(requests).map(([key, request]) => readQuestion(callbacks, key, request));
  const answers = questions.map(async ({ key, method, params }) => {
    const work = (signal: AbortSignal) => answerQuestion(callbacks, method, params, signal);
    const answer = await bounded(`the callback for ${method}`, bound, work).catch((cause: unknown) => {
      if (cause instanceof ClientError) throw cause;
      throw new ClientError(
        'CALLBACK_FAILED',
        `the callback for ${method} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    });
    return [key, answer] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

const CALLBACKS: Readonly<Record<string, keyof Callbacks>> = {
  'elicitation/create': 'elicit',
  'sampling/createMessage': 'sample',
  'roots/list': 'roots',
};

/** One question, judged before anybody is asked: a user is not asked for what comes to nothing. */
function readQuestion(callbacks: Callbacks, key: string, request: unknown) {
  const { method, params } = isObject(request) ? request : {};
  if (typeof method !== 'string') throw new ClientError('BROKEN', `inputRequests.${key} has no method`);
  if (!canAnswer(callbacks, method))
    throw new ClientError('INPUT_REQUIRED', `the server asks for ${method}, which this client has no callback for`);
  return { key, method, params: isObject(params) ? params : {} };
}
