/** The member of `params` that says what a method acts on; undefined when the method names nothing. */
export type NameField = 'name' | 'uri';

/**
 * The member of `params` that `Mcp-Name` mirrors for a method (MCP 2026-07-28, Streamable HTTP, "Standard Request Headers");
 * such a request must have it, in every revision.
 */
export function nameField(method: string): NameField | undefined {
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return 'name';
    case 'resources/read':
      return 'uri';
    default:
      return undefined;
  }
}

/** Like `nameField`, with the legacy methods that act on a resource. */
export function subjectField(method: string): NameField | undefined {
  return method === 'resources/subscribe' || method === 'resources/unsubscribe' ? 'uri' : nameField(method);
}
