// An official SDK v2 server as a hosted module: who calls, and a tool that notices when its caller left.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

/** Labels of `hang` calls whose signal fired. */
export const aborted: string[] = [];
/** Labels of `hang` calls that began. */
export const hanging: string[] = [];

export function server(): McpServer {
  const made = new McpServer({ name: 'sdk-v2', version: '1.0.0' });
  made.registerTool('whoami', { description: 'Says who calls.' }, async (context) => ({
    content: [{ type: 'text' as const, text: String(context.http?.authInfo?.extra?.principal) }],
  }));
  const label = fromJsonSchema<{ readonly label: string }>({
    type: 'object',
    properties: { label: { type: 'string' } },
    required: ['label'],
  });
  made.registerTool('hang', { description: 'Never ends by itself.', inputSchema: label }, ({ label: named }, { mcpReq }) => {
    hanging.push(named);
    return new Promise((_resolve, reject) => {
      mcpReq.signal.addEventListener('abort', () => {
        aborted.push(named);
        reject(new Error('left'));
      });
    });
  });
  return made;
}
