import type { Clock } from '../../contract/clock.js';
import type { HandlerContext } from '../../contract/handler.js';
import type {
  Caching,
  CompletionDefinition,
  ComponentView,
  ExtensionMethod,
  Policy,
  PromptDefinition,
  ResourceDefinition,
  Server,
  ServerDefinition,
  TemplateDefinition,
  ToolDefinition,
} from '../../contract/server.js';
import type { UriTemplate } from '../uri-template.js';
import { createWrapState, type Handler, type Wrapper, wrapHandler } from '../wrap/wrapper.js';
import type { Validator } from './check-schema.js';
import type { ParamHeader } from './param-headers.js';
import type { Parse } from './tool-schema.js';

/** The lists of one server in one revision, encoded once. */
export interface EncodedLists {
  readonly 'tools/list': EncodedList;
  readonly 'resources/list': EncodedList;
  readonly 'resources/templates/list': EncodedList;
  readonly 'prompts/list': EncodedList;
}

export type ListMethod = keyof EncodedLists;

export interface EncodedList {
  /** Member of the result that holds the items. */
  readonly member: string;
  readonly items: readonly EncodedItem[];
  /** Members before the items. */
  readonly hints: string;
  /** JSON text of the result of each page when everybody sees everything; undefined when scopes or a policy filter. */
  readonly pages: readonly string[] | undefined;
}

export interface EncodedItem {
  readonly component: Guarded;
  readonly json: string;
}

/** Handlers with their wrappers around them, by component; a component without wrappers is not in it. */
export type WrappedHandlers = ReadonlyMap<Guarded, Handler>;

/** Marks what `defineServer` made, also by another copy of this package. */
export const BRAND = Symbol.for('portcullis.server.1');

/** Something that scopes and the policy may hide. */
export interface Guarded {
  readonly view: ComponentView;
  readonly scopes: readonly string[] | undefined;
  readonly wrap: readonly Wrapper[];
}

export interface Tool extends Guarded {
  readonly definition: ToolDefinition;
  /** JSON Schema of the arguments, as clients see it. */
  readonly input: object;
  /** JSON Schema of `structuredContent`, as clients see it. */
  readonly output: object | undefined;
  /** Of the arguments; undefined where `parse_input` decides. */
  readonly fits: Validator | undefined;
  /** The Standard Schema validator of the arguments; the handler gets what it returns. */
  readonly parse_input: Parse | undefined;
  /** Of the structured content that is sent. */
  readonly output_fits: Validator | undefined;
  readonly run: ToolDefinition['run'];
  readonly param_headers: readonly ParamHeader[];
}

export interface Resource extends Guarded {
  readonly definition: ResourceDefinition;
  readonly caching: Required<Caching>;
}

export interface Template extends Guarded {
  readonly definition: TemplateDefinition;
  readonly pattern: UriTemplate;
  readonly caching: Required<Caching>;
}

export interface Prompt extends Guarded {
  readonly definition: PromptDefinition;
}

export interface ExtensionRoute extends Guarded {
  readonly extension: string;
  readonly method: ExtensionMethod;
}

/** A server as the core runs it. Nothing of it changes after `defineServer`. */
export interface ServerRuntime extends Server {
  readonly [BRAND]: true;
  readonly definition: ServerDefinition;
  /** JSON text of what a server says of itself in `_meta` of each result. */
  readonly info: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly templates: readonly Template[];
  readonly prompts: ReadonlyMap<string, Prompt>;
  /** By `completionKey`. */
  readonly completions: ReadonlyMap<string, CompletionDefinition>;
  readonly extensions: ReadonlyMap<string, ExtensionRoute>;
  readonly policy: Policy | undefined;
  /** Protocol methods that the components make possible. */
  readonly methods: ReadonlySet<string>;
  readonly caching: Required<Caching>;
  /** By revision. */
  readonly lists: ReadonlyMap<string, EncodedLists>;
}

/** Narrows a `Server`; undefined when it was not made by `defineServer`. */
export function asRuntime(server: unknown): ServerRuntime | undefined {
  return typeof server === 'object' && server !== null && (server as { readonly [BRAND]?: unknown })[BRAND] === true
    ? (server as ServerRuntime)
    : undefined;
}

export function completionKey(kind: 'prompt' | 'template', name: string, argument: string): string {
  return `${kind}\n${name}\n${argument}`;
}

/** Opens the wrappers of a server's components: counters of their own, as long as whoever serves the server. */
export function openWrappers(server: ServerRuntime, clock: Clock): WrappedHandlers {
  const handlers = new Map<Guarded, Handler>();
  const state = createWrapState();
  const wrap = (component: Guarded, run: (input: never, context: HandlerContext) => unknown): void => {
    if (component.wrap.length === 0) return;
    // A wrapper hands on the context it got, or the same under another token: both are contexts of handlers.
    handlers.set(component, wrapHandler(run as unknown as Handler, component.wrap, clock, state));
  };
  for (const tool of server.tools.values()) wrap(tool, tool.run);
  for (const resource of server.resources.values()) wrap(resource, (input, context) => resource.definition.read(input, context));
  for (const template of server.templates) wrap(template, (input, context) => template.definition.read(input, context));
  for (const prompt of server.prompts.values()) wrap(prompt, (input, context) => prompt.definition.get(input, context));
  return handlers;
}
