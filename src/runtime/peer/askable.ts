import type { ClientCapabilities } from '../../contract/handler.js';
import type { Call } from '../../contract/runtime.js';
import { paramsOf } from '../../core/call/params.js';

/** What a modern call says of itself that matters to a legacy server's questions. */
export interface Askable {
  /** What of the client's capabilities lets a server ask it something, as JSON text for an `initialize`, equal for equal ones; undefined: nothing. */
  readonly text: string | undefined;
  readonly capabilities: ClientCapabilities;
  /** A client may be asked in the middle of this call. */
  readonly asks: boolean;
  /** `requestState`: the call answers a question. */
  readonly state: unknown;
}

export function askableOf(call: Call): Askable {
  const asks = ASKING.has(call.method);
  const { _meta, requestState } = paramsOf(call.body);
  const state = asks ? requestState : undefined;
  const meta = _meta as Readonly<Record<string, unknown>> | undefined;
  const declared = meta?.['io.modelcontextprotocol/clientCapabilities'] as ClientCapabilities | undefined;
  if (typeof declared !== 'object' || declared === null) return { text: undefined, capabilities: {}, asks, state };
  const { elicitation, sampling, roots } = declared;
  const form = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  const kept = {
    ...(elicitation === undefined
      ? {}
      : { elicitation: { ...(form ? { form: {} } : {}), ...(elicitation.url === undefined ? {} : { url: {} }) } }),
    ...(roots === undefined ? {} : { roots: {} }),
    ...(sampling === undefined
      ? {}
      : {
          sampling: { ...(sampling.context === undefined ? {} : { context: {} }), ...(sampling.tools === undefined ? {} : { tools: {} }) },
        }),
  };
  return { text: Object.keys(kept).length === 0 ? undefined : JSON.stringify(kept), capabilities: declared, asks, state };
}

/** Requests in the middle of which a client may be asked (MCP 2026-07-28, Multi Round-Trip Requests). */
const ASKING: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
