import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError, ToolError } from '../../../src/server.js';
import { askFor, object, type Tools } from './feature.js';
import { given } from './round-tools.js';

/** Tools whose calls go on as tasks (MCP extension io.modelcontextprotocol/tasks), and one that never does. */
export const TASK_TOOLS: Tools = {
  greet: { input: object({ name: { type: 'string' } }), run: ({ name }) => `Hello, ${name}!` },
  slow_compute: {
    input: object({ seconds: { type: 'number' }, label: { type: 'string' } }),
    task: { when: 'declared' },
    async run({ seconds = 1 }, context) {
      context.progress(0, 1, 'computing');
      await sleep(1000 * Number(seconds), undefined, { signal: context.signal });
      return `computed for ${seconds} s`;
    },
  },
  failing_job: {
    task: { when: 'always' },
    async run(_input, { signal }) {
      await sleep(300, undefined, { signal });
      throw new ToolError('The job has failed.');
    },
  },
  protocol_error_job: {
    task: { when: 'declared' },
    async run(_input, { signal }) {
      await sleep(300, undefined, { signal });
      throw new RpcError(-32603, 'The job broke.');
    },
  },
  confirm_delete: {
    input: object({ filename: { type: 'string' } }),
    task: { when: 'declared', asks: 'within' },
    run({ filename }, context) {
      if (context.responses === undefined)
        return context.inputRequired({ requests: { confirm: askFor(`Delete ${filename}?`, 'confirm', 'boolean') } });
      return `deleted ${filename}`;
    },
  },
  multi_input: {
    task: { when: 'declared', asks: 'within' },
    run(_input, context) {
      const [first, second] = [given(context, 'first', 'value'), given(context, 'second', 'value')];
      if (context.responses === undefined)
        return context.inputRequired({ requests: { first: askFor('First?', 'value'), second: askFor('Second?', 'value') } });
      return `${first} and ${second}`;
    },
  },
  test_tool_with_task: {
    task: { when: 'always' },
    async run(_input, context) {
      const name = given(context, 'user_name', 'name');
      if (name === undefined) return context.inputRequired({ requests: { user_name: askFor('What is your name?', 'name') } });
      await sleep(300, undefined, { signal: context.signal });
      return `Hello, ${name}!`;
    },
  },
};
