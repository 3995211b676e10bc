import type { JsonValue } from '../../contract/content.js';
import type { Ask, ClientCapabilities, InputRequest, InputResponses } from '../../contract/handler.js';
import type { Outcome } from '../../errors/error.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import { clientOf } from './context.js';
import { canonical, isObject } from './params.js';
import { FaultError, type Reply } from './reply.js';
import type { CoreEnvironment, CoreRequest, InputRound } from './request.js';

/** Reads `inputResponses` and `requestState`; undefined in a first round. A state that this call did not give is refused. */
export function readRound(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Outcome<InputRound | undefined> {
  const { inputResponses, requestState } = request.params;
  if ((inputResponses === undefined && requestState === undefined) || request.dialect.asks !== 'result') return NO_ROUND;
  if (inputResponses !== undefined && !(isObject(inputResponses) && Object.values(inputResponses).every(isObject)))
    return { ok: false, fault: { code: 'INVALID_ARGUMENTS', detail: 'inputResponses must hold one object for each answered request.' } };
  const responses = inputResponses as InputResponses | undefined;
  if (requestState === undefined) return { ok: true, value: { responses, state: undefined } };
  const opened = typeof requestState === 'string' ? env.seal.open(requestState, bindingOf(server, request)) : undefined;
  if (opened === undefined) return { ok: false, fault: { code: 'INVALID_STATE' } };
  return { ok: true, value: { responses, state: JSON.parse(opened) as JsonValue } };
}

/**
 * The answer that asks the client. Throws FaultError `MISSING_CAPABILITY` when the client did not declare what a question needs, and
 * TypeError for a question that no client could answer: that is a fault of the handler.
 */
export function askReply(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment, ask: Ask): Reply {
  const requests = Object.entries(ask.requests ?? {});
  if (requests.length === 0 && ask.state === undefined) throw new TypeError('inputRequired needs requests or a state');
  if (requests.length > MAX_REQUESTS) throw new TypeError(`inputRequired takes at most ${MAX_REQUESTS} requests`);
  const { dialect } = request;
  if (dialect.asks === 'requests') {
    const impossible = requests.find(([, { method, ...rest }]) => !dialect.can_ask(method, modeOf(rest)));
    if (impossible !== undefined)
      throw new FaultError({ code: 'MISSING_CAPABILITY', detail: `Revision ${dialect.revision} cannot answer ${impossible[1].method}.` });
  }
  // Of a legacy client that came without a session nothing is known: it is asked all the same.
  const missing =
    dialect.era === 'legacy' && request.session?.client === undefined
      ? undefined
      : missingCapabilities(
          clientOf(request).capabilities,
          requests.map(([, question]) => question),
        );
  if (missing !== undefined) throw new FaultError({ code: 'MISSING_CAPABILITY', data: { requiredCapabilities: missing } });
  if (dialect.asks === 'requests' || request.in_task === true) return { kind: 'ask', ask };
  const members: string[] = [];
  if (requests.length > 0) members.push(`"inputRequests":${JSON.stringify(ask.requests)}`);
  if (ask.state !== undefined) {
    members.push(`"requestState":"${env.seal.seal(JSON.stringify(ask.state), bindingOf(server, request))}"`);
  }
  return { kind: 'result', json: dialect.result(members.join(','), undefined, server.info, 'input_required'), outcome: 'ok' };
}

const NO_ROUND: Outcome<undefined> = { ok: true, value: undefined };
const MAX_REQUESTS = 16;

/** Who asks what of whom: a state is good for the same again and nothing else. */
function bindingOf(server: ServerRuntime, { identity, method, params }: CoreRequest): string {
  const { _meta, inputResponses, requestState, ...salient } = params;
  return canonical([server.name, identity?.issuer ?? '', identity?.principal ?? '', method, salient]);
}

function modeOf(question: object): string | undefined {
  const { params } = question as { readonly params?: { readonly mode?: string } };
  return params?.mode;
}

/** What the client would have to declare; undefined when it declared all of it. */
export function missingCapabilities(has: ClientCapabilities, questions: readonly InputRequest[]): object | undefined {
  const missing: Record<string, object> = {};
  for (const question of questions) {
    if (question.method === 'roots/list') {
      if (has.roots === undefined) missing.roots = {};
    } else if (question.method === 'sampling/createMessage') {
      const tools = question.params.tools !== undefined || question.params.toolChoice !== undefined;
      if (has.sampling === undefined || (tools && has.sampling.tools === undefined)) missing.sampling = tools ? { tools: {} } : {};
    } else if (question.params.mode === 'url') {
      if (has.elicitation?.url === undefined) missing.elicitation = { ...missing.elicitation, url: {} };
    } else if (has.elicitation === undefined || (has.elicitation.form === undefined && has.elicitation.url !== undefined)) {
      missing.elicitation = { ...missing.elicitation, form: {} };
    }
  }
  return Object.keys(missing).length === 0 ? undefined : missing;
}

/** True for the answer to an elicitation, JSON text of the result, that the user did not give. */
export function isDeclined(json: string): boolean {
  const { action } = JSON.parse(json) as { readonly action?: unknown };
  return action === 'decline' || action === 'cancel';
}
