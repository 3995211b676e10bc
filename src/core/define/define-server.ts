import type { Server, ServerDefinition } from '../../contract/server.js';
import { DIALECTS } from '../../dialect/select.js';
import { ConfigError, type ConfigProblem } from '../../errors/error.js';
import { buildCompletions, buildExtensions, buildPrompts, buildResources, buildTemplates, buildTools, type Collect } from './components.js';
import { encodeLists } from './encode-lists.js';
import { BRAND, type ServerRuntime } from './server-runtime.js';

/**
 * Checks a server's declaration and makes it ready to serve: schemas compiled, lists encoded, all of it frozen. Later changes to
 * what was passed change nothing. Throws ConfigError with every problem at once, each naming the component, e.g. `tool "echo"`.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { connect } from 'portcullis/client';
 * import { defineServer } from 'portcullis/server';
 *
 * const server = defineServer({ name: 'greeter', version: '1.0.0', tools: [{ name: 'hello', run: () => 'Hello.' }] });
 * const client = await connect({ server });
 * assert.deepEqual((await client.callTool('hello')).content, [{ type: 'text', text: 'Hello.' }]);
 * await client.close();
 * assert.throws(() => defineServer({ name: '', version: '1.0.0' }), /name is missing/);
 * ```
 */
export function defineServer(definition: ServerDefinition): Server {
  const problems: ConfigProblem[] = [];
  const collect: Collect = (where, message) => void problems.push({ where, message });
  const own = 'server';
  if (typeof definition.name !== 'string' || definition.name === '') collect(own, 'name is missing');
  if (typeof definition.version !== 'string' || definition.version === '') collect(own, 'version is missing');
  const { page_size = 100, policy, changes } = definition;
  if (!Number.isInteger(page_size) || page_size < 1 || page_size > 1000) collect(own, 'page_size must be an integer from 1 to 1000');
  if (policy !== undefined && typeof policy !== 'function') collect(own, 'policy must be a function');
  if (changes !== undefined && typeof changes.open !== 'function') collect(own, 'changes must be a source, e.g. of createHub()');
  const caching = { ttl_ms: definition.caching?.ttl_ms ?? 60_000, scope: definition.caching?.scope ?? ('private' as const) };
  if (!Number.isInteger(caching.ttl_ms) || caching.ttl_ms < 0) collect(own, 'caching.ttl_ms must be an integer of 0 or more');

  const tools = buildTools(definition.tools ?? [], collect);
  const resources = buildResources(definition.resources ?? [], collect);
  const templates = buildTemplates(definition.templates ?? [], collect);
  const prompts = buildPrompts(definition.prompts ?? [], collect);
  const completions = buildCompletions(definition.completions ?? [], prompts, templates, collect);
  const extensions = buildExtensions(definition.extensions ?? {}, collect);
  if (problems.length > 0) throw new ConfigError(problems);

  const info = JSON.stringify({ name: definition.name, version: definition.version, title: definition.title });
  const parts = {
    resources: resources.values(),
    templates,
    prompts: prompts.values(),
    caching,
    page_size,
    info,
    has_policy: policy !== undefined,
  };
  const listParts = () => ({ ...parts, tools: tools.values(), resources: resources.values(), prompts: prompts.values() });
  return Object.freeze<ServerRuntime>({
    [BRAND]: true,
    name: definition.name,
    version: definition.version,
    definition: Object.freeze({ ...definition, page_size }),
    info,
    tools,
    resources,
    templates,
    prompts,
    completions,
    extensions,
    policy,
    methods: methodsOf({ tools, resources, templates, prompts, completions, updates: changes?.publishes.updates === true }),
    caching,
    lists: new Map(DIALECTS.map((dialect) => [dialect.revision, encodeLists(dialect, listParts())])),
  });
}

interface Sizes {
  readonly tools: { readonly size: number };
  readonly resources: { readonly size: number };
  readonly templates: { readonly length: number };
  readonly prompts: { readonly size: number };
  readonly completions: { readonly size: number };
  readonly updates: boolean;
}

/** A server without prompts has no `prompts/list`. */
function methodsOf({ tools, resources, templates, prompts, completions, updates }: Sizes): ReadonlySet<string> {
  const methods = ['server/discover', 'initialize', 'ping', 'subscriptions/listen', 'logging/setLevel'];
  if (tools.size > 0) methods.push('tools/list', 'tools/call');
  if (resources.size + templates.length > 0) {
    methods.push('resources/list', 'resources/templates/list', 'resources/read');
    if (updates) methods.push('resources/subscribe', 'resources/unsubscribe');
  }
  if (prompts.size > 0) methods.push('prompts/list', 'prompts/get');
  if (completions.size > 0) methods.push('completion/complete');
  return new Set(methods);
}
