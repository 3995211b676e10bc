import type { Clock } from '../contract/clock.js';
import type { ContentBlock, JsonSchema, Meta } from '../contract/content.js';
import type { ClientInfo, ElicitRequest, LogLevel, SampleRequest } from '../contract/handler.js';
import type { Log } from '../contract/log.js';
import type { Awaitable } from '../contract/server.js';

/** How far a call is (MCP Progress). */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A log message of the server (MCP Logging). `data` is any JSON value, unchecked. */
export interface LogMessage {
  readonly level: LogLevel;
  readonly data: unknown;
  readonly logger?: string;
}

/** What a form or a URL came to: `content` with `accept` of a form only (MCP Elicitation). */
export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** A folder or file that the server may work in (MCP Roots). */
export interface Root {
  /** A `file://` URI. */
  readonly uri: string;
  readonly name?: string;
}

/** Requests that the server may send to this client, in every era. Those without a callback are not declared as capabilities and are refused. */
export interface Callbacks {
  /** Asks the user: a form, or a URL to open. */
  readonly elicit?: (params: ElicitRequest['params'], signal: AbortSignal) => Awaitable<ElicitAnswer>;
  /** Asks a model. */
  readonly sample?: (params: SampleRequest['params'], signal: AbortSignal) => Awaitable<Readonly<Record<string, unknown>>>;
  /** Folders that the server may work in. */
  readonly roots?: (signal: AbortSignal) => Awaitable<readonly Root[]>;
}

/** Of `connect`. Times in milliseconds; RangeError for a limit that is not a positive integer, TypeError for an unknown era. */
export interface ConnectOptions extends Callbacks {
  /** `auto`: modern if the server is, else legacy. `modern`, `legacy`: that, or an error. Default `auto`. */
  readonly era?: 'auto' | 'modern' | 'legacy';
  /** Name and version that this client declares. Default: Portcullis. */
  readonly client_info?: ClientInfo;
  /** More client capabilities, e.g. `extensions`. Those of the callbacks are there already. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Aborts the connecting. */
  readonly signal?: AbortSignal;
  /** Of one request, until it is answered. Progress starts it again. Default 30 000. */
  readonly timeout_ms?: number;
  /** The same with progress, and while callbacks answer. Default 300 000. */
  readonly timeout_max_ms?: number;
  /** Where silence can mean a legacy server (stdio): until the probe is given up. Default 5 000. */
  readonly probe_timeout_ms?: number;
  /** Until the transport is ready, and until it has ended. Default 10 000. */
  readonly start_timeout_ms?: number;
  /** Pages of one list. One more is an error, never a list that is cut. Default 100. */
  readonly max_pages?: number;
  /** Items of one list. Default 10 000. */
  readonly max_items?: number;
  /** Rounds of questions of one call. Default 10. */
  readonly max_rounds?: number;
  /** Least severe log messages that the server should send. Default: none is asked for. */
  readonly log_level?: LogLevel;
  readonly onLog?: (message: LogMessage) => void;
  /** Receives non-fatal findings: dropped tools, messages without a pending request. Default: silent. */
  readonly log?: Log;
  readonly clock?: Clock;
}

/** Of one call. */
export interface CallOptions {
  /** Aborts: the call is cancelled, and the server told. */
  readonly signal?: AbortSignal;
  /** Default: that of the client. */
  readonly timeout_ms?: number;
  readonly timeout_max_ms?: number;
  readonly onProgress?: (progress: Progress) => void;
}

/** What a server calls itself (MCP schema `Implementation`). Not verified. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** What a server says of itself, and what was agreed on. Nothing of it is verified. */
export interface Agreement {
  readonly era: 'modern' | 'legacy';
  /** The revision that is spoken. */
  readonly revision: string;
  /** Of a modern server what it lists; of a legacy one what it agreed to. */
  readonly supported_versions: readonly string[];
  readonly server_info: ServerInfo | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

/** A tool as the server lists it (MCP schema `Tool`). */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a tool answered (MCP schema `CallToolResult`). `content` is a list, empty where the server sent none; nothing else is checked. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  /** The tool failed in a way that the model can act on. */
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

/** A resource as the server lists it (MCP schema `Resource`). */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** A resource template as the server lists it (MCP schema `ResourceTemplate`); `uriTemplate` is RFC 6570. */
export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** A prompt as the server lists it (MCP schema `Prompt`). */
export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

/** All of `ConnectOptions` that has a default. */
export type Settled = Required<Pick<ConnectOptions, keyof typeof DEFAULTS>> & Pick<ConnectOptions, 'signal'>;

const DEFAULTS = {
  era: 'auto',
  timeout_ms: 30_000,
  timeout_max_ms: 300_000,
  probe_timeout_ms: 5_000,
  start_timeout_ms: 10_000,
  max_pages: 100,
  max_items: 10_000,
  max_rounds: 10,
} as const;

/** The defaults filled in. Throws RangeError for a limit that is not a positive integer, TypeError for an unknown era. */
export function settle(options: ConnectOptions): Settled {
  const settled = Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, fallback]) => [name, options[name as keyof typeof DEFAULTS] ?? fallback]),
  ) as unknown as Settled;
  for (const [name, value] of Object.entries(settled)) if (name !== 'era') toPositive(name, value);
  if (!['auto', 'modern', 'legacy'].includes(settled.era))
    throw new TypeError(`era must be auto, modern or legacy, not ${String(settled.era)}`);
  return options.signal === undefined ? settled : { ...settled, signal: options.signal };
}

/** Throws RangeError unless the value is a positive integer. */
export function toPositive(name: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) <= 0)
    throw new RangeError(`${name} must be a positive integer, not ${String(value)}`);
}
