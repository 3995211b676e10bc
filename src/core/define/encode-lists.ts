import type { Caching } from '../../contract/server.js';
import type { Dialect } from '../../dialect/dialect.js';
import { promptItem, resourceItem, templateItem, toolItem } from '../../dialect/items.js';
import type { EncodedItem, EncodedList, EncodedLists, Guarded, ListMethod, Prompt, Resource, Template, Tool } from './server-runtime.js';

export interface ListParts {
  readonly tools: Iterable<Tool>;
  readonly resources: Iterable<Resource>;
  readonly templates: Iterable<Template>;
  readonly prompts: Iterable<Prompt>;
  readonly caching: Required<Caching>;
  readonly page_size: number;
  readonly info: string;
  readonly has_policy: boolean;
}

export function encodeLists(dialect: Dialect, parts: ListParts): EncodedLists {
  const encode = <C extends Guarded>(
    member: string,
    kind: ListMethod,
    components: Iterable<C>,
    item: (component: C) => object,
  ): EncodedList => {
    const items = Array.from(components, (component) => ({ component, json: JSON.stringify(item(component)) }));
    const filtered = parts.has_policy || items.some(({ component }) => component.scopes !== undefined);
    const hints = dialect.hints({ ttl_ms: parts.caching.ttl_ms, scope: filtered ? 'private' : parts.caching.scope });
    const list = { member, items, hints };
    if (filtered) return { ...list, pages: undefined };
    const count = Math.max(1, Math.ceil(items.length / parts.page_size));
    const pages = Array.from({ length: count }, (_, page) =>
      encodePage(dialect, kind, list, items, page * parts.page_size, parts.page_size, parts.info),
    );
    return { ...list, pages };
  };
  return {
    'tools/list': encode('tools', 'tools/list', parts.tools, ({ definition, input, output }) =>
      toolItem(dialect, definition, input, output),
    ),
    'resources/list': encode('resources', 'resources/list', parts.resources, ({ definition }) => resourceItem(dialect, definition)),
    'resources/templates/list': encode('resourceTemplates', 'resources/templates/list', parts.templates, ({ definition }) =>
      templateItem(dialect, definition),
    ),
    'prompts/list': encode('prompts', 'prompts/list', parts.prompts, ({ definition }) => promptItem(dialect, definition)),
  };
}

/** JSON text of one page of `items`, which are those of `list` that the caller may see. */
export function encodePage(
  dialect: Dialect,
  method: ListMethod,
  list: Pick<EncodedList, 'member' | 'hints'>,
  items: readonly EncodedItem[],
  from: number,
  page_size: number,
  info: string,
): string {
  const end = Math.min(items.length, from + page_size);
  const page = items.slice(from, end).map(({ json }) => json);
  const next = end < items.length ? `,"nextCursor":${JSON.stringify(toCursor(method, end))}` : '';
  const hints = list.hints === '' ? '' : `,${list.hints}`;
  return dialect.result(`"${list.member}":[${page.join(',')}]${next}${hints}`, undefined, info);
}

/** An opaque cursor: where to go on in one list. */
export function toCursor(method: ListMethod, from: number): string {
  return Buffer.from(`${method} ${from}`).toString('base64url');
}

/** Undefined for what `toCursor` did not make for this list, or a place that is not in it. */
export function fromCursor(method: ListMethod, cursor: string, page_size: number, length: number): number | undefined {
  if (cursor.length > MAX_CURSOR) return undefined;
  const from = Number(/ (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]);
  return toCursor(method, from) === cursor && from > 0 && from < length && from % page_size === 0 ? from : undefined;
}

const MAX_CURSOR = 64;
