/** The modern revision that is served: metadata in each request, no handshake, no session. */
export const MODERN = '2026-07-28';

/** Every revision that `MCP-Protocol-Version` may name, newest first. Clients of 2024-11-05 that speak Streamable HTTP may name theirs too. */
export const SERVED_REVISIONS = [MODERN, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** What a request without `MCP-Protocol-Version` speaks (MCP 2026-07-28, Streamable HTTP, "Protocol Version Header"). */
export const UNDECLARED_REVISION = '2025-03-26';

/** True for a revision with metadata in each request. */
export function isModern(revision: string): boolean {
  return revision === MODERN;
}

/** True for a revision of `SERVED_REVISIONS`. */
export function isServed(revision: string): boolean {
  return (SERVED_REVISIONS as readonly string[]).includes(revision);
}
