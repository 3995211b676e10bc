import type { ContentBlock } from '../contract/content.js';
import type { PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition } from '../contract/server.js';
import type { Dialect } from './dialect.js';

/** A tool as a list shows it, with the JSON Schemas of its arguments and of its structured content. */
export function toolItem({ items }: Dialect, tool: ToolDefinition, input: object, output: object | undefined): object {
  const { name } = tool;
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

/** Content as the revision knows it: where there are no links, a link becomes its URI as text. */
export function contentFor(dialect: Dialect, content: readonly ContentBlock[]): readonly ContentBlock[] {
  return dialect.links || !content.some(isLink)
    ? content
    : content.map((block) => (isLink(block) ? { type: 'text', text: block.uri } : block));
}

/** The `structuredContent` that the revision lets through; undefined: it is left out. */
export function structuredFor({ items }: Dialect, value: unknown): unknown {
  if (items.structured === 'any') return value;
  return items.structured === 'object' && typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function isLink(block: ContentBlock): block is Extract<ContentBlock, { type: 'resource_link' }> {
  return block.type === 'resource_link';
}
