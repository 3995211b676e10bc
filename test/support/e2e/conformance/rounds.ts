import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type FixtureTools, object, text } from './feature.js';

/** Seals what a multi-round-trip call remembers; every server instance of this process opens it. */
export const stateCodec = createRequestStateCodec<{ readonly round: number; readonly name?: string }>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});

/** An elicitation of one field. */
export const askFor = (message: string, field: string, type = 'string') =>
  inputRequired.elicit({ message, requestedSchema: object({ [field]: { type } }, field) as never });

const askName = () => askFor('What is your name?', 'name');
const askModel = (question: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens: 50 });

/** The accepted value of one field; undefined when it was not given, not accepted or not a string. */
export function given({ mcpReq }: ServerContext, key: string, field: string): string | undefined {
  const value = acceptedContent<Record<string, unknown>>(mcpReq.inputResponses, key)?.[field];
  return typeof value === 'string' ? value : undefined;
}

const response = ({ mcpReq }: ServerContext, key: string) =>
  mcpReq.inputResponses?.[key] as { readonly content?: { readonly text?: string }; readonly roots?: readonly unknown[] } | undefined;

type Declared = Readonly<Record<string, ClientCapabilities | undefined>>;

/** Tools that answer `input_required` and complete when the client comes back with what they asked for: MCP 2026-07-28 only. */
export const ROUND_TOOLS: FixtureTools = {
  test_missing_capability: {
    run: async (_args, context) =>
      response(context, 'answer') === undefined
        ? inputRequired({ inputRequests: { answer: askModel('Say pong') } })
        : text('the client can sample'),
  },
  test_input_required_result_elicitation: {
    async run(_args, context) {
      const name = given(context, 'user_name', 'name');
      return name === undefined ? inputRequired({ inputRequests: { user_name: askName() } }) : text(`Hello, ${name}!`);
    },
  },
  test_input_required_result_sampling: {
    async run(_args, context) {
      const said = response(context, 'capital_question')?.content?.text;
      return said === undefined
        ? inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?') } })
        : text(`Sampling response: ${said}`);
    },
  },
  test_input_required_result_list_roots: {
    async run(_args, context) {
      const roots = response(context, 'client_roots')?.roots;
      return roots === undefined
        ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
        : text(`The client has ${roots.length} roots: ${JSON.stringify(roots)}`);
    },
  },
  test_input_required_result_request_state: {
    async run(_args, context) {
      const confirmed = acceptedContent(context.mcpReq.inputResponses, 'confirm') !== undefined;
      if (confirmed && context.mcpReq.requestState() !== undefined) return text('state-ok');
      return inputRequired({
        inputRequests: { confirm: askFor('Please confirm', 'ok', 'boolean') },
        requestState: await stateCodec.mint({ round: 1 }),
      });
    },
  },
  test_input_required_result_multiple_inputs: {
    async run(_args, context) {
      const name = given(context, 'user_name', 'name');
      const greeting = response(context, 'greeting')?.content?.text;
      const roots = response(context, 'client_roots')?.roots;
      if (name !== undefined && greeting !== undefined && roots !== undefined) return text(`${greeting} ${name}, ${roots.length} roots`);
      return inputRequired({
        inputRequests: { user_name: askName(), greeting: askModel('Greet'), client_roots: inputRequired.listRoots() },
        requestState: await stateCodec.mint({ round: 1 }),
      });
    },
  },
  test_input_required_result_multi_round: {
    async run(_args, context) {
      const state = context.mcpReq.requestState<{ readonly round: number; readonly name?: string }>();
      if (state === undefined) {
        return inputRequired({ inputRequests: { step1: askName() }, requestState: await stateCodec.mint({ round: 1 }) });
      }
      if (state.round === 1) {
        const name = given(context, 'step1', 'name') ?? 'nobody';
        const step2 = askFor('What is your favourite colour?', 'color');
        return inputRequired({ inputRequests: { step2 }, requestState: await stateCodec.mint({ round: 2, name }) });
      }
      return text(`${state.name} likes ${given(context, 'step2', 'color')}`);
    },
  },
  test_input_required_result_tampered_state: {
    async run(_args, context) {
      if (context.mcpReq.requestState() !== undefined) return text('integrity-ok');
      return inputRequired({
        inputRequests: { confirm: askFor('Please confirm', 'ok', 'boolean') },
        requestState: await stateCodec.mint({ round: 1 }),
      });
    },
  },
  test_input_required_result_capabilities: {
    async run(_args, context) {
      if (context.mcpReq.inputResponses !== undefined) return text('answered');
      const declared = (context.mcpReq.envelope as Declared | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
      const inputRequests: InputRequests = {};
      if (declared?.elicitation !== undefined) inputRequests.user_name = askName();
      if (declared?.sampling !== undefined) inputRequests.greeting = askModel('Greet');
      if (declared?.roots !== undefined) inputRequests.client_roots = inputRequired.listRoots();
      return Object.keys(inputRequests).length === 0 ? text('nothing can be asked') : inputRequired({ inputRequests });
    },
  },
};
