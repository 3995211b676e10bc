import type { Clock } from '../../contract/clock.js';
import type { Call } from '../../contract/runtime.js';
import { checkParamHeaders, KEYWORD, type ParamHeader, paramHeadersOf } from '../../core/define/param-headers.js';
import { ask } from './ask.js';
import { discoverParams } from './handshake.js';
import type { Peer } from './peer.js';

/**
 * Which arguments of one server's tools are mirrored into `Mcp-Param-*` headers (MCP 2026-07-28, Streamable HTTP, "Server Behavior
 * for Custom Headers"). A server behind a pipe sees no headers, so they are compared with the body here. Learned from
 * the server's own lists: the gateway asks once, and reads those that pass. A tool that is not known is not checked.
 */
export class ToolHeaders {
  readonly #known = new Map<string, readonly ParamHeader[]>();

  /** Asks for the tools, page by page. What the server does not answer is not known. */
  ask(peer: Peer, clock: Clock, version: string | undefined, cursor?: unknown, page = 1): void {
    const base = version === undefined ? {} : (JSON.parse(discoverParams(version)) as object);
    const params = JSON.stringify(cursor === undefined ? base : { ...base, cursor });
    ask(peer, clock, 'tools/list', params, ASK_MS, (asked) => {
      if (asked.kind !== 'answered' || asked.response.outcome === 'rpc_error') return;
      const next = this.learn(asked.line, true);
      if (next !== undefined && page < MAX_PAGES) this.ask(peer, clock, version, next, page + 1);
    });
  }

  /** Reads an answer to `tools/list`; returns its cursor. Without `always` a list that can tell nothing new is not parsed. */
  learn(line: Uint8Array, always = false): unknown {
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    if (!always && this.#known.size === 0 && !bytes.includes(KEYWORD)) return undefined;
    const { result } = JSON.parse(bytes.toString()) as { readonly result?: { readonly tools?: unknown; readonly nextCursor?: unknown } };
    for (const tool of Array.isArray(result?.tools) ? result.tools : []) this.#take(tool);
    return result?.nextCursor;
  }

  /** Why the headers of a `tools/call` do not say what its body says; undefined when they do. */
  mismatch(call: Call): string | undefined {
    const params = call.name === undefined ? undefined : this.#known.get(call.name);
    if (params === undefined) return undefined;
    const args = (JSON.parse(call.body.toString()) as { params: { arguments?: unknown } }).params.arguments;
    const given = typeof args === 'object' && args !== null ? (args as Readonly<Record<string, unknown>>) : {};
    return checkParamHeaders(params, call.head.headers, given);
  }

  #take(tool: { readonly name?: unknown; readonly inputSchema?: unknown } | null): void {
    if (typeof tool?.name !== 'string') return;
    let sound = true;
    const { inputSchema } = tool;
    const params =
      typeof inputSchema === 'object' && inputSchema !== null ? paramHeadersOf(inputSchema as object, () => void (sound = false)) : [];
    // A tool whose annotations are not valid is dropped by clients (Streamable HTTP, "Schema Extension"), so they are not mirrored.
    if (!sound || params.length === 0) this.#known.delete(tool.name);
    else if (this.#known.size < MAX_TOOLS) this.#known.set(tool.name, params);
  }
}

const ASK_MS = 10_000;
const MAX_PAGES = 20;
const MAX_TOOLS = 1000;
