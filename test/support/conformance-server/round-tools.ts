import { acceptedContent, type HandlerContext, type InputRequest, listRoots } from '../../../src/server.js';
import { askFor, askModel, rootsIn, said, type Tools } from './feature.js';

/** The accepted value of one field; undefined when it was not given, not accepted or not a string. */
export function given({ responses }: HandlerContext, key: string, field: string): string | undefined {
  const value = acceptedContent(responses, key)?.[field];
  return typeof value === 'string' ? value : undefined;
}

const askName = () => askFor('What is your name?', 'name');

/** Tools that ask, in as many rounds as they need (MCP 2026-07-28 MRTR). */
export const ROUND_TOOLS: Tools = {
  test_missing_capability: {
    run: (_input, context) =>
      context.responses?.answer === undefined
        ? context.inputRequired({ requests: { answer: askModel('Say pong') } })
        : 'the client can sample',
  },
  test_input_required_result_elicitation: {
    run(_input, context) {
      const name = given(context, 'user_name', 'name');
      return name === undefined ? context.inputRequired({ requests: { user_name: askName() } }) : `Hello, ${name}!`;
    },
  },
  test_input_required_result_sampling: {
    run(_input, context) {
      const capital = said(context, 'capital_question');
      return capital === undefined
        ? context.inputRequired({ requests: { capital_question: askModel('What is the capital of France?') } })
        : `Sampling response: ${capital}`;
    },
  },
  test_input_required_result_list_roots: {
    run(_input, context) {
      const roots = rootsIn(context, 'client_roots');
      return roots === undefined
        ? context.inputRequired({ requests: { client_roots: listRoots() } })
        : `The client has ${roots.length} roots: ${JSON.stringify(roots)}`;
    },
  },
  test_input_required_result_request_state: {
    run(_input, context) {
      if (context.state !== undefined && acceptedContent(context.responses, 'confirm') !== undefined) return 'state-ok';
      return context.inputRequired({ requests: { confirm: askFor('Please confirm', 'ok', 'boolean') }, state: { round: 1 } });
    },
  },
  test_input_required_result_multiple_inputs: {
    run(_input, context) {
      const name = given(context, 'user_name', 'name');
      const greeting = said(context, 'greeting');
      const roots = rootsIn(context, 'client_roots');
      if (name !== undefined && greeting !== undefined && roots !== undefined) return `${greeting} ${name}, ${roots.length} roots`;
      return context.inputRequired({
        requests: { user_name: askName(), greeting: askModel('Greet'), client_roots: listRoots() },
        state: { round: 1 },
      });
    },
  },
  test_input_required_result_multi_round: {
    run(_input, context) {
      const state = context.state as { readonly round: number; readonly name?: string } | undefined;
      if (state === undefined) return context.inputRequired({ requests: { step1: askName() }, state: { round: 1 } });
      if (state.round === 1) {
        const name = given(context, 'step1', 'name') ?? 'nobody';
        return context.inputRequired({ requests: { step2: askFor('What is your favourite colour?', 'color') }, state: { round: 2, name } });
      }
      return `${state.name} likes ${given(context, 'step2', 'color')}`;
    },
  },
  test_input_required_result_tampered_state: {
    run(_input, context) {
      if (context.state !== undefined) return 'integrity-ok';
      return context.inputRequired({ requests: { confirm: askFor('Please confirm', 'ok', 'boolean') }, state: { round: 1 } });
    },
  },
  test_input_required_result_capabilities: {
    run(_input, context) {
      if (context.responses !== undefined) return 'answered';
      const { elicitation, sampling, roots } = context.client.capabilities;
      const requests: Record<string, InputRequest> = {};
      if (elicitation !== undefined) requests.user_name = askName();
      if (sampling !== undefined) requests.greeting = askModel('Greet');
      if (roots !== undefined) requests.client_roots = listRoots();
      return Object.keys(requests).length === 0 ? 'nothing can be asked' : context.inputRequired({ requests });
    },
  },
};
