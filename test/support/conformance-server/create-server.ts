import { defineServer, type Hub, type Server, type ToolDefinition } from '../../../src/server.js';
import { ASKING_TOOLS } from './asking-tools.js';
import { CONTENT_TOOLS } from './content-tools.js';
import { type Tools, toDefinitions } from './feature.js';
import { COMPLETIONS, PROMPTS } from './prompts.js';
import { RESOURCES, TEMPLATES } from './resources.js';
import { ROUND_TOOLS } from './round-tools.js';
import { TASK_TOOLS } from './task-tools.js';

/** A server with every feature that the conformance suite asks for under the suite's names, and more tools. */
export function createConformanceServer(hub: Hub, more: readonly ToolDefinition[] = []): Server {
  return defineServer({
    name: 'conformance-fixture',
    version: '1.0.0',
    tools: [...toDefinitions({ ...CONTENT_TOOLS, ...ASKING_TOOLS, ...ROUND_TOOLS, ...TASK_TOOLS, ...triggers(hub) }), ...more],
    resources: RESOURCES,
    templates: TEMPLATES,
    prompts: PROMPTS,
    completions: COMPLETIONS,
    changes: hub,
  });
}

/** Tools that change what every open subscription watches. */
const triggers = (hub: Hub): Tools => ({
  test_trigger_tool_change: { run: () => told(hub.toolsChanged) },
  test_trigger_prompt_change: { run: () => told(hub.promptsChanged) },
});

function told(change: () => void): string {
  change();
  return 'told';
}
