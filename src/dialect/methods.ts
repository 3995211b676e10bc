/** The member of `params` that says what a method acts on; undefined when the method names nothing. */
export type NameField = 'name' | 'uri' | 'taskId';

/**
 * The member of `params` that `Mcp-Name` mirrors for a method (MCP 2026-07-28, Streamable HTTP, "Standard Request Headers", and the
 * extension io.modelcontextprotocol/tasks). Such a request must have it, in every revision; a request about a task may leave out the
 * header, and what it lacks is the server's to say.
 */
export function nameField(method: string): NameField | undefined {
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return 'name';
    case 'resources/read':
      return 'uri';
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel':
      return 'taskId';
    default:
      return undefined;
  }
}

/** Like `nameField`, with the legacy methods that act on a resource or wait for a task. */
export function subjectField(method: string): NameField | undefined {
  if (method === 'tasks/result') return 'taskId';
  return method === 'resources/subscribe' || method === 'resources/unsubscribe' ? 'uri' : nameField(method);
}
