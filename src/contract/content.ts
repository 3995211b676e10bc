// What servers hand to clients, in the shapes of the MCP schema: names are the wire's own.

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON Schema of dialect 2020-12, as plain data or made with `Type`. */
export type JsonSchema = object;

/** `_meta` of a definition or a result. Keys whose prefix's second label is `modelcontextprotocol` or `mcp` belong to the protocol. */
export type Meta = Readonly<Record<string, unknown>>;

/** An image that a client may show beside a name (MCP schema `Icon`; since 2025-11-25). */
export interface Icon {
  /** An https or data URL. */
  readonly src: string;
  readonly mimeType?: string;
  readonly sizes?: readonly string[];
  readonly theme?: 'light' | 'dark';
}

/** Hints about a piece of content (MCP schema `Annotations`). */
export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[];
  /** 0 to 1. */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** Text, UTF-8 on the wire (MCP schema `TextContent`). */
export interface TextContent {
  readonly type: 'text';
  readonly text: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** An image (MCP schema `ImageContent`). */
export interface ImageContent {
  readonly type: 'image';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** Since 2025-03-26. */
export interface AudioContent {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** A resource that the client may read. Since 2025-06-18; an older client gets its URI as text. */
export interface ResourceLink {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** One piece of a resource: text, or base64 in `blob`. */
export type ResourceContents = {
  readonly uri: string;
  readonly mimeType?: string;
  readonly _meta?: Meta;
} & ({ readonly text: string } | { readonly blob: string });

/** The contents of a resource, inside the answer (MCP schema `EmbeddedResource`). */
export interface EmbeddedResource {
  readonly type: 'resource';
  readonly resource: ResourceContents;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** One piece of a tool's answer or of a prompt (MCP schema `ContentBlock`). */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** What a tool answers. `structuredContent` must fit the tool's `output`; without `content` it is repeated there as JSON text. */
export interface ToolResult {
  readonly content?: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  /** The call failed in a way that the model can act on. */
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

/** One message of a prompt, with one piece of content (MCP schema `PromptMessage`). */
export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

/** What a prompt answers. */
export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: Meta;
}

/** What a resource answers. Never empty: a resource that is not there answers undefined. */
export interface ResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: Meta;
}

/** What a completion answers: values ranked by relevance; at most 100 are sent. */
export interface CompletionResult {
  readonly values: readonly string[];
  /** All matches there are. Default: the number of values. */
  readonly total?: number;
  readonly hasMore?: boolean;
}
