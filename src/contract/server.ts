import type { ChangeSource } from './changes.js';
import type { Annotations, CompletionResult, Icon, JsonSchema, Meta, PromptResult, ResourceResult, ToolResult } from './content.js';
import type { HandlerContext, InputRequired } from './handler.js';
import type { Identity } from './identity.js';
import type { StandardSchema } from './standard-schema.js';
import type { ServerTasks, ToolTask } from './tasks.js';

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** How long and by whom a result may be kept (MCP 2026-07-28 Caching). Told to modern clients only. */
export interface Caching {
  /** Milliseconds, 0 or more. */
  readonly ttl_ms?: number;
  /** Default `private`. `public`: the same for every caller, also for callers that other credentials let in. */
  readonly scope?: 'public' | 'private';
}

/** A limit around one component, made by `withTimeout`, `withConcurrency` or `withRateLimit`. */
export interface ComponentWrapper {
  readonly name: string;
}

/** What every component may say of itself. */
interface Described {
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
  /** The caller needs all of these scopes. Without them the component is in no list and a call answers as if it did not exist. */
  readonly scopes?: readonly string[];
  /** Limits around the handler, the first one outermost. They apply after input was checked, on every transport. */
  readonly wrap?: readonly ComponentWrapper[];
}

/** Hints about what a tool does; a client trusts them as far as it trusts the server (MCP schema `ToolAnnotations`). */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A tool (MCP Tools). `defineServer` checks the declaration; its errors name the tool. */
export interface ToolDefinition extends Described {
  /** 1 to 128 of A-Z, a-z, 0-9, `_`, `-`, `.`; unique. */
  readonly name: string;
  /**
   * JSON Schema 2020-12 of the arguments, its root an object. Default: no arguments. Depth at most 64, at most 2 000 subschemas,
   * `$ref` inside the schema only. `x-mcp-header` on a string, integer or boolean property mirrors it into `Mcp-Param-…`.
   * Or a Standard Schema validator: it alone decides what is valid, and `run` gets the value that it returns.
   */
  readonly input?: JsonSchema | StandardSchema;
  /**
   * JSON Schema 2020-12 of `structuredContent`, or a Standard Schema validator, whose returned value is sent. A result that does not fit
   * is a failure of the server.
   */
  readonly output?: JsonSchema | StandardSchema;
  /** The JSON Schema that clients see for a Standard Schema `input`. Required where the library does not generate one. */
  readonly input_schema?: JsonSchema;
  /** The same for a Standard Schema `output`. */
  readonly output_schema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Lets a call go on as a task (MCP extension io.modelcontextprotocol/tasks) when it takes long. Absent: the call waits for the tool. */
  readonly task?: ToolTask;
  /** Gets valid arguments. A string is a result of one text. Throw a `ToolError` to tell the model what went wrong. */
  run(input: Readonly<Record<string, unknown>>, context: HandlerContext): Awaitable<string | ToolResult | InputRequired>;
}

/** What `read` answers: text or bytes of the resource, whole contents, or undefined when it is not there. */
export type ReadAnswer = string | Uint8Array | ResourceResult | InputRequired | undefined;

/** A resource with a fixed URI (MCP Resources). */
export interface ResourceDefinition extends Described {
  /** An absolute URI (RFC 3986); unique. */
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  /** Bytes. */
  readonly size?: number;
  /** Of what `read` answers. Default: 0 ms, private. */
  readonly caching?: Caching;
  read(input: { readonly uri: string }, context: HandlerContext): Awaitable<ReadAnswer>;
}

/** Resources that share a form of URI (MCP Resources, RFC 6570). Listed as one template, read by any URI that fits. */
export interface TemplateDefinition extends Described {
  /**
   * RFC 6570 level 1 and 2: `{name}` stands for one or more characters that are not reserved, percent-decoded; `{+name}`, at most
   * one of them, for one or more of any, as they are. At most 1 024 bytes and 32 variables, something between any two of them.
   */
  readonly uriTemplate: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly caching?: Caching;
  read(
    input: { readonly uri: string; readonly variables: Readonly<Record<string, string>> },
    context: HandlerContext,
  ): Awaitable<ReadAnswer>;
}

/** An argument of a prompt; its value is text (MCP schema `PromptArgument`). */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** A prompt (MCP Prompts). */
export interface PromptDefinition extends Described {
  /** Unique. */
  readonly name: string;
  readonly arguments?: readonly PromptArgument[];
  /** Gets the arguments that were given, all of them declared and every required one there. A string is one message of the user. */
  get(input: Readonly<Record<string, string>>, context: HandlerContext): Awaitable<string | PromptResult | InputRequired>;
}

/** What is to be completed (MCP Completion). */
export interface CompletionInput {
  /** What was typed so far. */
  readonly value: string;
  /** Arguments that are settled. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** The owner of a completed argument: a prompt by its name, or a template by its `uriTemplate`. Exactly one of them. */
export type CompletionTarget =
  | { readonly prompt: string; readonly template?: undefined }
  | { readonly template: string; readonly prompt?: undefined };

/** Values for one argument of a prompt, or one variable of a template. */
export type CompletionDefinition = CompletionTarget & {
  /** Name of the argument or variable. */
  readonly argument: string;
  complete(input: CompletionInput, context: HandlerContext): Awaitable<readonly string[] | CompletionResult>;
};

/** A method of an extension. It exists for modern clients that declared the extension. */
export interface ExtensionMethod {
  /** `params` is what was sent, without `_meta`: nothing of it was checked. Returns the members of the result. */
  run(params: Readonly<Record<string, unknown>>, context: HandlerContext): Awaitable<Readonly<Record<string, unknown>>>;
}

/** An extension: its methods exist only for clients that declared it (MCP 2026-07-28 Extensions). */
export interface ExtensionDefinition {
  /** Told in the capabilities. Default `{}`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** By method name, none of them a method of the protocol. */
  readonly methods: Readonly<Record<string, ExtensionMethod>>;
}

/** What a policy judges. */
export interface ComponentView {
  readonly kind: 'tool' | 'resource' | 'template' | 'prompt' | 'method';
  /** Name of a tool, prompt or method; URI of a resource; URI template of a template. */
  readonly name: string;
}

/** Says whether the caller may see and use a component. Called for each component of a list: it must be quick. A throw means no. */
export type Policy = (identity: Identity | undefined, component: ComponentView) => boolean;

/** The declaration of a server. `defineServer` freezes it, and throws for an invalid one with the component's name. */
export interface ServerDefinition {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
  /** How to use the server, for the model. */
  readonly instructions?: string;
  readonly tools?: readonly ToolDefinition[];
  readonly resources?: readonly ResourceDefinition[];
  readonly templates?: readonly TemplateDefinition[];
  readonly prompts?: readonly PromptDefinition[];
  readonly completions?: readonly CompletionDefinition[];
  readonly policy?: Policy;
  /** Where `list_changed` and resource updates come from. Absent: nothing ever changes, and a subscription is completed at once. */
  readonly changes?: ChangeSource;
  /** By extension id, e.g. `com.example/thing`. */
  readonly extensions?: Readonly<Record<string, ExtensionDefinition>>;
  /** Of tools with `task`. */
  readonly tasks?: ServerTasks;
  /** Of lists and `server/discover`. Default: 60 000 ms, private. Lists that scopes or a policy filter are always private. */
  readonly caching?: Caching;
  /** Components on one page of a list, 1 to 1 000; default 100. */
  readonly page_size?: number;
}

/** A server, checked and frozen. Made by `defineServer`; give it to a route as the module's export `server`. */
export interface Server {
  readonly name: string;
  readonly version: string;
}
