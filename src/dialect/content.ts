import type { ContentBlock } from '../contract/content.js';
import type { Dialect } from './dialect.js';

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
