import { MODERN } from '../../dialect/methods.js';
import { memberAt } from '../../wire/edit.js';
import { toRaw } from '../../wire/text.js';
import type { Response } from '../peer/incoming.js';

/** Which protocol era a server speaks. */
export type Verdict = 'modern' | 'legacy';

/** What the gateway holds for clients of another era than their server. */
export interface BetweenEras {
  /** Sessions that it opened on a legacy server for modern clients. */
  readonly leased: number;
  /** Calls that wait, without their client, for its answer to a question of the server. */
  readonly held: number;
  /** Sessions of legacy clients on a modern server of which this process remembers something. */
  readonly bridged: number;
}

/**
 * Reads a server's era from its answer to `server/discover` or `initialize`. Only a list that contains 2026-07-28 itself makes a
 * server modern: the `supportedVersions` of a result, or the `data.supported` of a -32022 (MCP 2026-07-28, Versioning). A later
 * revision is another dialect. -32020 and -32021 exist in the modern revision alone. Every other answer is a legacy server's.
 */
export function verdictOf(line: Uint8Array, { outcome, rpc_code }: Pick<Response, 'outcome' | 'rpc_code'>): Verdict {
  if (outcome !== 'rpc_error') return lists(line, 'result', 'supportedVersions') ? 'modern' : 'legacy';
  if (rpc_code === -32022) return lists(line, 'error', 'data', 'supported') ? 'modern' : 'legacy';
  return rpc_code === -32020 || rpc_code === -32021 ? 'modern' : 'legacy';
}

/**
 * True for an answer to a modern request that a modern server does not give: a 400, 404 or 405 without one of the codes that only the modern
 * revision has, or a -32022 that does not list it. A 404 with -32601 is a modern server's way to say that it has no such method.
 */
export function isLegacyAnswer(status: number, rpc_code: number | undefined, body: Uint8Array | undefined): boolean {
  if (rpc_code === -32022 && body !== undefined) return !lists(body, 'error', 'data', 'supported');
  if (rpc_code === -32020 || rpc_code === -32021 || (status === 404 && rpc_code === -32601)) return false;
  return status === 400 || status === 404 || status === 405;
}

function lists(line: Uint8Array, ...path: readonly string[]): boolean {
  const member = memberAt(line, ...path);
  if (member === undefined || line[member.value] !== OPEN_LIST) return false;
  return (JSON.parse(toRaw(line, member.value, member.to)) as readonly unknown[]).includes(MODERN);
}

const OPEN_LIST = 0x5b;
