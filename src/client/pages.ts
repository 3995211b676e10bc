import { ClientError } from './client-error.js';
import { isObject, type JsonObject } from './messages.js';

export interface PageLimits {
  readonly method: string;
  /** Where the items of a page are. */
  readonly member: string;
  readonly max_pages: number;
  readonly max_items: number;
}

/** All items of a list, page by page (MCP Pagination). A list that is too long, or a cursor that comes twice, rejects: nothing is cut. */
export async function collect<T>(ask: (params: JsonObject) => Promise<JsonObject>, limits: PageLimits): Promise<readonly T[]> {
  const { method, member, max_pages, max_items } = limits;
  const items: T[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const result = await ask(cursor === undefined ? {} : { cursor });
    const page = result[member];
    if (!Array.isArray(page) || !page.every(isObject)) throw new ClientError('BROKEN', `the answer to ${method} has no list of ${member}`);
    items.push(...(page as unknown as T[]));
    if (items.length > max_items) throw new ClientError('PAGE_LIMIT', `${method} has more than max_items (${max_items})`);
    const next = result.nextCursor;
    if (typeof next !== 'string') return items;
    if (cursors.has(next)) throw new ClientError('PAGE_LIMIT', `${method} gave a cursor twice: its list has no end`);
    if (pages === max_pages) throw new ClientError('PAGE_LIMIT', `${method} has more than max_pages (${max_pages})`);
    cursors.add(next);
    cursor = next;
  }
}
