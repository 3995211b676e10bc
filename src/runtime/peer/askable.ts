import { LRUCache } from 'lru-cache';
import type { ClientCapabilities } from '../../contract/handler.js';
import type { Call } from '../../contract/runtime.js';
import { isObjectAt, memberAt, memberOf } from '../../wire/edit.js';
import { toRaw } from '../../wire/text.js';

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

export function askableOf({ method, body }: Call): Askable {
  const asks = ASKING.has(method);
  const params = memberAt(body, 'params');
  if (params === undefined || !isObjectAt(body, params.value)) return { text: undefined, capabilities: {}, asks, state: undefined };
  const member = asks ? memberOf(body, params.value, 'requestState') : undefined;
  const state: unknown = member === undefined ? undefined : JSON.parse(toRaw(body, member.value, member.to));
  const meta = memberOf(body, params.value, '_meta');
  const given = meta === undefined || !isObjectAt(body, meta.value) ? undefined : memberOf(body, meta.value, CAPABILITIES);
  return { ...declaredIn(given === undefined ? '{}' : toRaw(body, given.value, given.to)), asks, state };
}

type Declared = Pick<Askable, 'text' | 'capabilities'>;

/** Clients declare the same in each call. */
const declared_before = new LRUCache<string, Declared>({ max: 256 });

/** `json`: of a client's capabilities. */
function declaredIn(json: string): Declared {
  const known = declared_before.get(json);
  if (known !== undefined) return known;
  const read = readDeclared(JSON.parse(json) as ClientCapabilities | null);
  if (json.length <= MAX_REMEMBERED) declared_before.set(json, read);
  return read;
}

function readDeclared(declared: ClientCapabilities | null): Declared {
  if (typeof declared !== 'object' || declared === null) return { text: undefined, capabilities: {} };
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
  return { text: Object.keys(kept).length === 0 ? undefined : JSON.stringify(kept), capabilities: declared };
}

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const MAX_REMEMBERED = 1_024;

/** Requests in the middle of which a client may be asked (MCP 2026-07-28, Multi Round-Trip Requests). */
const ASKING: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
