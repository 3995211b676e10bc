import type { ClientCapabilities } from '../../contract/handler.js';
import type { Call } from '../../contract/runtime.js';
import { paramsOf } from '../../core/call/params.js';

/** What a modern call says of itself that matters to a legacy server's questions. */
export interface Askable {
  /** What of the client's capabilities lets a server ask it something, as JSON text for an `initialize`, equal for equal ones; undefined: nothing. */
  readonly text: string | undefined;
  readonly capabilities: ClientCapabilities;
  /** `requestState`: the call answers a question. */
  readonly state: unknown;
}

/** Undefined for a call in the middle of which nobody may be asked. */
export function askableOf(call: Call): Askable | undefined {
  if (!ASKING.has(call.method)) return undefined;
  const { _meta, requestState: state } = paramsOf(call.body);
  const meta = _meta as Readonly<Record<string, unknown>> | undefined;
  const declared = meta?.['io.modelcontextprotocol/clientCapabilities'] as ClientCapabilities | undefined;
  if (typeof declared !== 'object' || declared === null) return { text: undefined, capabilities: {}, state };
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
  return { text: Object.keys(kept).length === 0 ? undefined : JSON.stringify(kept), capabilities: declared, state };
}

/** Requests in the middle of which a client may be asked (MCP 2026-07-28, Multi Round-Trip Requests). */
const ASKING: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
