import type {
  Caching,
  CompletionDefinition,
  ComponentWrapper,
  ExtensionDefinition,
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
} from '../../contract/server.js';
import { DIALECTS } from '../../dialect/select.js';
import { compileTemplate, type UriTemplate } from '../uri-template.js';
import type { Wrapper } from '../wrap/wrapper.js';
import { compileSchema } from './check-schema.js';
import { whyNotExtension, whyNotName, whyNotToolName, whyNotUri } from './names.js';
import { paramHeadersOf } from './param-headers.js';
import { completionKey, type ExtensionRoute, type Prompt, type Resource, type Template, type Tool } from './server-runtime.js';
import { handlerOf, inputOf, outputOf } from './tool-schema.js';

/** Takes one problem: the component it is about, and what is wrong. */
export type Collect = (where: string, message: string) => void;

export function buildTools(definitions: readonly ToolDefinition[], collect: Collect): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  for (const given of definitions) {
    const definition = Object.freeze({ ...given });
    const where = `tool ${JSON.stringify(definition.name)}`;
    const report = (message: string) => collect(where, message);
    const { name } = definition;
    tell(
      report,
      whyNotToolName(name),
      mustRun(definition.run, 'run'),
      whyNotScopes(definition.scopes),
      twice(tools, name),
      whyNotTask(definition.task),
    );
    const { schema: input, parse: parse_input } = inputOf(definition, report);
    const output = outputOf(definition, report);
    if ((input as { readonly type?: unknown } | null)?.type !== 'object') report('input must be a schema of type object');
    const fits = compileSchema(input, 'input', report);
    const output_fits = output === undefined ? undefined : compileSchema(output.schema, 'output', report);
    const param_headers = paramHeadersOf(input, report);
    if (fits === undefined) continue;
    const view = Object.freeze({ kind: 'tool', name } as const);
    tools.set(name, {
      view,
      definition,
      input,
      output: output?.schema,
      fits: parse_input === undefined ? fits : undefined,
      parse_input,
      output_fits,
      run: handlerOf(definition, output?.parse),
      param_headers,
      scopes: definition.scopes,
      wrap: wrapOf(definition, report),
    });
  }
  return tools;
}

export function buildResources(definitions: readonly ResourceDefinition[], collect: Collect): ReadonlyMap<string, Resource> {
  const resources = new Map<string, Resource>();
  for (const given of definitions) {
    const definition = Object.freeze({ ...given });
    const { uri, name, scopes } = definition;
    const report = (message: string) => collect(`resource ${JSON.stringify(uri)}`, message);
    tell(report, whyNotUri(uri), whyNotName(name), mustRun(definition.read, 'read'), whyNotScopes(scopes), twice(resources, uri));
    const caching = cachingOf(definition.caching, report);
    resources.set(uri, {
      view: Object.freeze({ kind: 'resource', name: uri }),
      definition,
      caching,
      scopes,
      wrap: wrapOf(definition, report),
    });
  }
  return resources;
}

export function buildTemplates(definitions: readonly TemplateDefinition[], collect: Collect): readonly Template[] {
  const templates = new Map<string, Template>();
  for (const given of definitions) {
    const definition = Object.freeze({ ...given });
    const { uriTemplate, name, scopes } = definition;
    const report = (message: string) => collect(`template ${JSON.stringify(uriTemplate)}`, message);
    tell(report, whyNotName(name), mustRun(definition.read, 'read'), whyNotScopes(scopes), twice(templates, uriTemplate));
    let pattern: UriTemplate;
    try {
      pattern = compileTemplate(uriTemplate);
    } catch (error) {
      report(`uriTemplate ${error instanceof TypeError ? error.message : 'must be a text'}`);
      continue;
    }
    const caching = cachingOf(definition.caching, report);
    templates.set(uriTemplate, {
      view: Object.freeze({ kind: 'template', name: uriTemplate }),
      definition,
      pattern,
      caching,
      scopes,
      wrap: wrapOf(definition, report),
    });
  }
  return [...templates.values()];
}

export function buildPrompts(definitions: readonly PromptDefinition[], collect: Collect): ReadonlyMap<string, Prompt> {
  const prompts = new Map<string, Prompt>();
  for (const given of definitions) {
    const definition = Object.freeze({ ...given });
    const { name, scopes } = definition;
    const report = (message: string) => collect(`prompt ${JSON.stringify(name)}`, message);
    tell(report, whyNotName(name), mustRun(definition.get, 'get'), whyNotScopes(scopes), twice(prompts, name));
    const seen = new Set<string>();
    for (const argument of definition.arguments ?? []) {
      tell(report, whyNotName(argument.name), seen.has(argument.name) ? `has the argument ${argument.name} twice` : undefined);
      seen.add(argument.name);
    }
    prompts.set(name, { view: Object.freeze({ kind: 'prompt', name }), definition, scopes, wrap: wrapOf(definition, report) });
  }
  return prompts;
}

export function buildCompletions(
  definitions: readonly CompletionDefinition[],
  prompts: ReadonlyMap<string, Prompt>,
  templates: readonly Template[],
  collect: Collect,
): ReadonlyMap<string, CompletionDefinition> {
  const completions = new Map<string, CompletionDefinition>();
  for (const given of definitions) {
    const definition = Object.freeze({ ...given });
    const { prompt, template, argument } = definition;
    const report = (message: string) => collect(`completion of ${JSON.stringify(prompt ?? template)} ${JSON.stringify(argument)}`, message);
    tell(report, mustRun(definition.complete, 'complete'));
    if ((prompt === undefined) === (template === undefined)) {
      report('names a prompt or a template, and not both');
      continue;
    }
    const known =
      prompt !== undefined
        ? prompts.get(prompt)?.definition.arguments?.some(({ name }) => name === argument)
        : templates.find(({ definition: { uriTemplate } }) => uriTemplate === template)?.pattern.variables.includes(argument);
    if (known !== true) report(prompt !== undefined ? 'no prompt has this argument' : 'no template has this variable');
    const key = completionKey(prompt !== undefined ? 'prompt' : 'template', prompt ?? template ?? '', argument);
    tell(report, completions.has(key) ? 'is there twice' : undefined);
    completions.set(key, definition);
  }
  return completions;
}

export function buildExtensions(
  definitions: Readonly<Record<string, ExtensionDefinition>>,
  collect: Collect,
): ReadonlyMap<string, ExtensionRoute> {
  const routes = new Map<string, ExtensionRoute>();
  for (const [extension, { methods }] of Object.entries(definitions)) {
    const report = (message: string) => collect(`extension ${JSON.stringify(extension)}`, message);
    tell(report, whyNotExtension(extension));
    for (const [name, method] of Object.entries(methods)) {
      const taken = DIALECTS.some((dialect) => dialect.methods.has(name)) || name.startsWith('notifications/');
      tell(report, whyNotName(name), mustRun(method.run, `run of ${name}`), twice(routes, name));
      if (taken) report(`${name} is a method of the protocol`);
      routes.set(name, { view: Object.freeze({ kind: 'method', name }), scopes: undefined, wrap: [], extension, method });
    }
  }
  return routes;
}

function tell(report: (message: string) => void, ...faults: readonly (string | undefined)[]): void {
  for (const fault of faults) if (fault !== undefined) report(fault);
}

function whyNotTask(task: ToolDefinition['task']): string | undefined {
  if (task === undefined) return undefined;
  const { when, asks = 'before', ttl_ms = 1, poll_ms = 1, immediate_ms = 0 } = task;
  if (when !== 'declared' && when !== 'always') return 'task.when must be declared or always';
  if (asks !== 'before' && asks !== 'within') return 'task.asks must be before or within';
  if (!isMs(ttl_ms, 1) || !isMs(poll_ms, 1)) return 'task.ttl_ms and task.poll_ms must be whole milliseconds from 1 to 2 147 483 647';
  return isMs(immediate_ms, 0) ? undefined : 'task.immediate_ms must be whole milliseconds from 0 to 2 147 483 647';
}

const isMs = (value: number, least: number): boolean => Number.isInteger(value) && value >= least && value <= 2_147_483_647;

function mustRun(run: unknown, what: string): string | undefined {
  return typeof run === 'function' ? undefined : `${what} must be a function`;
}

function twice(known: ReadonlyMap<string, unknown>, name: string): string | undefined {
  return known.has(name) ? 'is there twice' : undefined;
}

function whyNotScopes(scopes: unknown): string | undefined {
  if (
    scopes === undefined ||
    (Array.isArray(scopes) && scopes.length > 0 && scopes.every((scope) => typeof scope === 'string' && scope !== ''))
  )
    return undefined;
  return 'scopes must be a list of one or more texts';
}

function wrapOf({ wrap = [] }: { readonly wrap?: readonly ComponentWrapper[] }, report: (message: string) => void): readonly Wrapper[] {
  const good = Array.isArray(wrap) && wrap.every((wrapper) => typeof (wrapper as Partial<Wrapper> | null)?.open === 'function');
  if (!good) report('wrap must be a list of withTimeout(), withConcurrency(), withRateLimit()');
  return good ? Object.freeze([...(wrap as readonly Wrapper[])]) : [];
}

function cachingOf(caching: Caching | undefined, report: (message: string) => void): Required<Caching> {
  const { ttl_ms = 0, scope = 'private' } = caching ?? {};
  if (!Number.isInteger(ttl_ms) || ttl_ms < 0) report('caching.ttl_ms must be an integer of 0 or more');
  if (scope !== 'private' && scope !== 'public') report('caching.scope must be "public" or "private"');
  return { ttl_ms, scope };
}
