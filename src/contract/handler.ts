import type { Era } from './claims.js';
import type { JsonSchema, JsonValue } from './content.js';
import type { Facts, Identity } from './identity.js';

/** Severity of a log message, least first (RFC 5424 section 6.2.1). */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** Capabilities as declared by the client, not verified. */
export interface ClientCapabilities {
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  readonly sampling?: { readonly context?: object; readonly tools?: object };
  readonly roots?: object;
  readonly experimental?: Readonly<Record<string, object>>;
  readonly extensions?: Readonly<Record<string, object>>;
}

/** Name and version that the client gives itself. For display and logs only. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** Asks the user, through the client (MCP Elicitation). Make one with `elicit` or `elicitUrl`. */
export interface ElicitRequest {
  readonly method: 'elicitation/create';
  readonly params:
    | { readonly mode: 'form'; readonly message: string; readonly requestedSchema: JsonSchema }
    | { readonly mode: 'url'; readonly message: string; readonly url: string };
}

/** Asks the client's model (MCP Sampling). Make one with `sample`. */
export interface SampleRequest {
  readonly method: 'sampling/createMessage';
  readonly params: Readonly<Record<string, unknown>> & { readonly messages: readonly object[]; readonly maxTokens: number };
}

/** Asks for the client's root folders (MCP Roots). Make one with `listRoots`. */
export interface RootsRequest {
  readonly method: 'roots/list';
}

/** A question to the client in the middle of a call (MCP 2026-07-28 Multi Round-Trip Requests). */
export type InputRequest = ElicitRequest | SampleRequest | RootsRequest;

/** What the client answered, by the keys of the requests. It comes from the client: check it like any input, e.g. with `acceptedContent`. */
export type InputResponses = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What a handler needs before it can go on. One of both at least. */
export interface Ask {
  /** By keys of your choice; at most 16. */
  readonly requests?: Readonly<Record<string, InputRequest>>;
  /**
   * Given back as `context.state` in the next round, at most 32 768 bytes of JSON. It travels through the client, sealed
   * (AES-256-GCM) and bound to the caller, the method and the arguments, for 10 minutes. Not single-use.
   */
  readonly state?: JsonValue;
}

/** Returned by a handler that must ask first: it is called again with `context.responses`. Made by `context.inputRequired`. */
export interface InputRequired {
  readonly ask: Ask;
}

/** What a handler sees beside its input. Valid for one call. */
export interface HandlerContext {
  /** Who calls, as the gates found it; undefined on a public route. Never read from the message. */
  readonly identity: Identity | undefined;
  /** What gates found beside the identity. */
  readonly facts: Facts;
  /** Aborts when the client leaves, the deadline passes or the server is drained. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /** True once `signal` has aborted; costs less than to look at it. */
  readonly cancelled: boolean;
  readonly era: Era;
  /** Protocol revision of this call. */
  readonly revision: string;
  /** The id of this request in logs and in `X-Request-Id`. */
  readonly request_id: string;
  /**
   * Legacy revisions tell this at the handshake; the session id carries what of it is known: elicitation, sampling and roots, the name and the
   * version. Without a session `capabilities` is empty and `info` undefined.
   */
  readonly client: { readonly capabilities: ClientCapabilities; readonly info: ClientInfo | undefined };
  /** Answers to what the previous round asked for; undefined in the first round. */
  readonly responses: InputResponses | undefined;
  /** What the previous round gave as `state`; undefined when it gave none. */
  readonly state: JsonValue | undefined;
  /**
   * Reports progress and restarts the deadline. Sent only if the client gave a progress token. `done` must grow: other
   * values are dropped. While the reader is slow only the latest is kept.
   */
  progress(done: number, total?: number, message?: string): void;
  /** Sends a log message, if the client asked for this level: `_meta` in the modern era, `info` and above in a legacy one. Never put secrets in it. */
  log(level: LogLevel, data: JsonValue, logger?: string): void;
  /** Makes the value that a handler of a tool, prompt or resource returns to ask the client first. */
  inputRequired(ask: Ask): InputRequired;
}
