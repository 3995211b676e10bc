// One client's tour of the conformance fixture: every feature it knows, used once.
import type { SdkClient } from './sdk-clients.js';

export const WATCHED = 'test://watched-resource';
export const GREETING = { type: 'ref/prompt', name: 'test_prompt_with_arguments' } as const;

/** What one client gets out of the server. */
export async function everything(client: SdkClient, can_elicit: boolean, modern: boolean) {
  const progress: number[] = [];
  await client.call('test_tool_with_progress', {}, { onprogress: (step) => void progress.push(step.progress) });
  if (!modern) {
    await client.subscribe(WATCHED);
    await client.setLevel('debug');
  }
  await client.call('test_tool_with_logging');
  const together = Array.from({ length: 3 }, async () => {
    const own: number[] = [];
    const text = await client.call('test_tool_with_progress', {}, { onprogress: (step) => void own.push(step.progress) });
    return [text, ...own];
  });
  return {
    together: await Promise.all(together),
    revision: client.revision,
    session: client.session,
    progress,
    tools: await client.tools(),
    prompts: await client.prompts(),
    resources: await client.resources(),
    text: await client.call('test_simple_text'),
    read: await client.read(WATCHED),
    templated: await client.read('test://template/7/data'),
    prompt: await client.prompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' }),
    completed: await client.complete(GREETING, 'arg1', 'pa'),
    sampled: await client.call('test_sampling', { prompt: 'Say it' }),
    elicited: can_elicit ? await client.call('test_elicitation', { message: 'Who?' }) : undefined,
    logged: client.notified.filter((method) => method === 'notifications/message').length,
    asked: client.asked,
  };
}
