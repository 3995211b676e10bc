/** The modern revision that is served: metadata in each request, no handshake, no session. */
export const MODERN = '2026-07-28';
/** Every revision that `MCP-Protocol-Version` may name, newest first. Clients of 2024-11-05 that speak Streamable HTTP may name theirs too. */
export const SERVED_REVISIONS = [MODERN, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** What a request without `MCP-Protocol-Version` speaks (MCP 2026-07-28, Streamable HTTP, "Protocol Version Header"). */
export const UNDECLARED_REVISION = '2025-03-26';
/** The member of `params` that says what a method acts on; undefined when the method names nothing. */
export type NameField = 'name' | 'uri' | 'taskId';

/**
 * The member of `params` that `Mcp-Name` mirrors for a method (MCP 2026-07-28, Streamable HTTP, "Standard Request Headers", and the
 * extension io.modelcontextprotocol/tasks). Such a request must have it, in every revision; a request about a task may leave out the
 * header; the server reports missing ones.
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

/** True for a revision with metadata in each request. */
export function isModern(revision: string): boolean {
  return revision === MODERN;
}

/** True for a revision of `SERVED_REVISIONS`. */
export function isServed(revision: string): boolean {
  return (SERVED_REVISIONS as readonly string[]).includes(revision);
}
