import type { Clock } from '../../contract/clock.js';
import type { Call } from '../../contract/runtime.js';
import { isObject, paramsOf } from '../../core/call/params.js';
import { checkParamHeaders, KEYWORD, type ParamHeader, paramHeadersOf, writeParamHeaders } from '../../core/define/param-headers.js';
import { ask } from './ask.js';
import type { Peer } from './peer.js';

/**
 * Which arguments of one server's tools are mirrored into `Mcp-Param-*` headers (MCP 2026-07-28, Streamable HTTP, "Server Behavior
 * for Custom Headers"). A server behind a pipe sees no headers, so they are compared with the body here. Learned from
 * the server's own lists: the gateway asks once, and reads those that pass. A tool that is not known is not checked.
 */
export class ToolHeaders {
  readonly #known = new Map<string, readonly ParamHeader[]>();
  #asked_ms = Number.NEGATIVE_INFINITY;

  /** As `ask`, unless the tools were asked for in the last minute. */
  askOnce(peer: Peer, clock: Clock, params: string): void {
    if (clock.mono_ms() - this.#asked_ms >= FRESH_MS) this.ask(peer, clock, params);
  }

  /** Asks for the tools, page by page. `params`: JSON text of an object without a cursor. What the server does not answer is not known; `told` runs at the end. */
  ask(peer: Peer, clock: Clock, params: string, told?: () => void): void {
    this.#asked_ms = clock.mono_ms();
    const page = (cursor: unknown, left: number): void => {
      const asked = cursor === undefined ? params : JSON.stringify({ ...(JSON.parse(params) as object), cursor });
      ask(peer, clock, 'tools/list', asked, ASK_MS, (reply) => {
        const next = reply.kind === 'answered' && reply.response.outcome !== 'rpc_error' ? this.learn(reply.line, true) : undefined;
        if (next !== undefined && left > 1) page(next, left - 1);
        else told?.();
      });
    };
    page(undefined, MAX_PAGES);
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
    const params = this.#of(call);
    return params === undefined ? undefined : checkParamHeaders(params, call.head.headers, argumentsOf(call));
  }

  /** The header fields that a modern request for this `tools/call` has; flat name, value. */
  fieldsOf(call: Call): readonly string[] {
    const params = this.#of(call);
    return params === undefined ? [] : Object.entries(writeParamHeaders(params, argumentsOf(call))).flat();
  }

  #of({ method, name }: Call): readonly ParamHeader[] | undefined {
    return method === 'tools/call' && name !== undefined ? this.#known.get(name) : undefined;
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

function argumentsOf({ body }: Call): Readonly<Record<string, unknown>> {
  const { arguments: given } = paramsOf(body);
  return isObject(given) ? given : {};
}

const FRESH_MS = 60_000;
const ASK_MS = 10_000;
const MAX_PAGES = 20;
const MAX_TOOLS = 1000;
