import type { AnswerOutcome, Call } from '../../contract/runtime.js';
import { skipSpace } from '../../wire/skip.js';
import { type Response, SUBSCRIPTION_KEY } from './incoming.js';
import { memberAt, memberOf } from './locate.js';
import { type Edit, splice } from './splice.js';

/** An answer as the client gets it. */
export interface Told {
  readonly status: number;
  readonly body: Uint8Array;
  readonly outcome: AnswerOutcome;
  readonly rpc_code: number | undefined;
}

/** Turns a peer's answer into the client's. Undefined: it is no answer that this client could be given. */
export type Teller = (call: Call, line: Uint8Array, response: Response) => Told | undefined;

/** The answer as the peer wrote it, with the client's own id, of the same type and with the same digits. */
export const tellAsIs: Teller = (call, line, response) => {
  const { outcome, rpc_code } = response;
  const edits = [idEdit(line, call.id as string)];
  if (call.method === 'subscriptions/listen') {
    const closes = memberAt(line, 'result', '_meta', SUBSCRIPTION_KEY);
    if (closes !== undefined) edits.push({ from: closes.value, to: closes.to, text: call.id as string });
  }
  edits.sort((a, b) => a.from - b.from);
  return { status: call.era === 'modern' ? modernStatus(rpc_code) : 200, body: splice(line, edits), outcome, rpc_code };
};

/** HTTP status of an answer in the modern era (MCP 2026-07-28, Streamable HTTP, "Protocol Version Header", "Server Validation"). */
export function modernStatus(rpc_code: number | undefined): number {
  if (rpc_code === -32601) return 404;
  return rpc_code === -32020 || rpc_code === -32021 || rpc_code === -32022 ? 400 : 200;
}

/** Puts the client's id, raw JSON text, in the place of the peer's. */
export function idEdit(line: Uint8Array, id: string): Edit {
  const member = memberOf(line, skipSpace(line, 0), 'id');
  return member === undefined ? { from: 0, to: 0, text: '' } : { from: member.value, to: member.to, text: id };
}
