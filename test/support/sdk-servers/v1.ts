// An official SDK v1 server as a hosted module: who calls, and a tool that reports progress.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';

export function server(): McpServer {
  const made = new McpServer({ name: 'sdk-v1', version: '1.0.0' });
  made.registerTool('whoami', { description: 'Says who calls.' }, async ({ authInfo }) => ({
    content: [{ type: 'text' as const, text: String(authInfo?.extra?.principal) }],
  }));
  made.registerTool('steps', { description: 'Three steps.' }, async ({ _meta, sendNotification }) => {
    for (let progress = 1; progress <= 3 && _meta?.progressToken !== undefined; progress++) {
      await sendNotification({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress, total: 3 } });
    }
    return { content: [{ type: 'text' as const, text: 'done' }] };
  });
  return made;
}
