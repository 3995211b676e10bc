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
import type { Wrapper } from '../wrap/wrapper.js';
import type { Validator } from './check-schema.js';
import type { EncodedLists } from './encode-lists.js';
import type { ParamHeader } from './param-headers.js';
import type { Parse } from './tool-schema.js';

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
