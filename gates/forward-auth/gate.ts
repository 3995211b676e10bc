import { defineGate, type GateDecision } from 'portcullis/gate';
import { toDecision } from './answer.js';
import { Options } from './options.js';
import { toQuestion } from './question.js';
import { createService, toServiceUrl } from './service.js';

/** Questions on their way at a time; more are refused at once. */
const MAX_IN_FLIGHT = 1_024;

const UNREACHABLE: GateDecision = {
  kind: 'refuse',
  status: 503,
  code: 'FORWARD_AUTH_UNREACHABLE',
  message: 'The service that decides about this request does not answer. Retry.',
};
const REPEATED: GateDecision = {
  kind: 'refuse',
  status: 400,
  code: 'FORWARD_AUTH_HEADER_REPEATED',
  message: 'A header field that decides about this request came more than once.',
};

/**
 * Asks an HTTP service about the request's head; no body byte ever goes there. 2xx passes, with an identity from named answer
 * fields when `identity` is set; 401 and 403 are relayed with their challenge only; a redirect, any other status, an answer
 * that is cut, late or without its identity fails closed with 502 or 503. An allowlist: its pass admits.
 */
export const gate = defineGate({
  name: 'forward-auth',
  contract: 1,
  options: Options,
  authorizes: true,
  identifies: (options) => (options.identity === undefined ? undefined : 'always'),
  provides: ['groups'],
  codes: {
    FORWARD_AUTH_UNAUTHENTICATED: {
      status: 401,
      meaning: 'The service answered 401.',
      remedy: 'Send the credential that the challenge asks for.',
    },
    FORWARD_AUTH_FORBIDDEN: { status: 403, meaning: 'The service answered 403.', remedy: 'Ask the operator of the service for access.' },
    FORWARD_AUTH_HEADER_REPEATED: { status: 400, meaning: 'A field of request_headers came more than once.', remedy: 'Send it once.' },
    FORWARD_AUTH_BROKEN: {
      status: 502,
      meaning: 'The service’s answer is not a decision: another status, or identity headers that are missing, repeated or not in UTF-8.',
      remedy: 'Check the service and the identity headers.',
    },
    FORWARD_AUTH_UNREACHABLE: {
      status: 503,
      meaning: 'No answer in time, or too many questions at once.',
      remedy: 'Retry; check the service.',
    },
  },
  check(options) {
    toServiceUrl(options);
    toQuestion(options);
  },
  async open(options, host) {
    const service = await createService(options, host);
    const ask = toQuestion(options);
    const tells_call = options.request_headers.some((name) => /^mcp-(method|name)$/i.test(name));
    const about_call = options.identity === undefined && tells_call;
    const answers = host.metrics.counter('forward_auth_answers_total', 'Answers of the forward-auth service.', ['gate', 'outcome']);
    const count = (outcome: string): void => answers.add({ gate: host.name, outcome });
    let in_flight = 0;
    return {
      decide(head, context): GateDecision | Promise<GateDecision> {
        const question = ask(head, context.route);
        if (question === undefined) return REPEATED;
        if (in_flight >= MAX_IN_FLIGHT) {
          count('unreachable');
          return UNREACHABLE;
        }
        in_flight += 1;
        return service
          .ask(question, context.signal)
          .then((answer) => {
            const [outcome, decision] = toDecision(answer, options.identity, about_call);
            if (outcome === 'broken') host.log.warn({ status: answer.status }, 'forward-auth service gave no verdict');
            count(outcome);
            return decision;
          })
          .catch((error: unknown) => {
            if (context.signal.aborted) return UNREACHABLE;
            // The message of a socket error holds the service's address; its code does not.
            const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
            host.log.warn({ error: String(code ?? name) }, 'forward-auth service does not answer');
            count('unreachable');
            return UNREACHABLE;
          })
          .finally(() => {
            in_flight -= 1;
          });
      },
      close: () => service.close(),
    };
  },
});
