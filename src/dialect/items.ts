import type { PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition } from '../contract/server.js';
import type { Dialect } from './dialect.js';

/** What a list says of a tool. `input` is the schema that is in force. */
export function toolItem({ items }: Dialect, tool: ToolDefinition, input: object): object {
  const { name, output } = tool;
  const shown =
    output !== undefined &&
    (items.structured === 'any' || (items.structured === 'object' && (output as { readonly type?: unknown }).type === 'object'));
  return {
    ...described(items, tool),
    name,
    inputSchema: input,
    ...(shown ? { outputSchema: output } : {}),
    ...(items.tool_annotations && tool.annotations !== undefined ? { annotations: tool.annotations } : {}),
  };
}

export function resourceItem({ items }: Dialect, resource: ResourceDefinition): object {
  const { uri, name, mimeType, annotations, size } = resource;
  return { ...described(items, resource), uri, name, mimeType, annotations, size };
}

export function templateItem({ items }: Dialect, template: TemplateDefinition): object {
  const { uriTemplate, name, mimeType, annotations } = template;
  return { ...described(items, template), uriTemplate, name, mimeType, annotations };
}

export function promptItem({ items }: Dialect, prompt: PromptDefinition): object {
  const args = prompt.arguments?.map(({ name, title, description, required }) => ({
    name,
    ...(items.title ? { title } : {}),
    description,
    required,
  }));
  return { ...described(items, prompt), name: prompt.name, arguments: args };
}

/** Members that every component may have; undefined ones are not written. */
function described(items: Dialect['items'], { title, description, icons, _meta }: Described): object {
  return {
    ...(items.title && title !== undefined ? { title } : {}),
    description,
    ...(items.icons && icons !== undefined ? { icons } : {}),
    ...(items.title && _meta !== undefined ? { _meta } : {}),
  };
}

type Described = Pick<ToolDefinition, 'title' | 'description' | 'icons' | '_meta'>;
