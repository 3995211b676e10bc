import type { Reason } from './table.js';

/** Why a session ends where it does: what the client itself does with the refusal. */
export const REASONS: readonly Reason[] = [
  {
    clients: /^Python mcp 1\./,
    refusals: /./,
    why: 'The SDK raises on every status but 404 inside the task group that runs the session, so one refused call closes it, whatever the body says. `mcp` 2 fails that call alone.',
  },
  {
    clients: /^Go /,
    refusals: /^(401|403 who|404 route|415)$/,
    why: 'The SDK gives up the connection on a 4xx whose body is not a JSON-RPC error with an id (go-sdk#1175). The gateway answers these before it reads the body, so it does not know the id.',
  },
  {
    clients: /^Rust /,
    refusals: /^(404 route|415)$/,
    why: 'The SDK waits for an error with the id of its call and drops one without an id, which the 2026-07-28 revision allows. Give its calls a timeout.',
  },
];
