import type { Log } from '../contract/log.js';
import { isObject } from '../core/call/params.js';
import { type ParamHeader, paramHeadersOf } from '../core/define/param-headers.js';
import { ClientError } from './client-error.js';
import type { JsonObject } from './messages.js';
import type { Tool } from './options.js';

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

/**
 * What a modern server's lists told of its tools: which arguments are mirrored into headers. A tool whose `x-mcp-header` breaks the
 * rules is dropped with a warning (MCP 2026-07-28, Streamable HTTP, "Schema Extension").
 */
export class ToolList {
  readonly #log: Log;
  #mirrored = new Map<string, readonly ParamHeader[]>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes a whole list; returns the tools that can be called. */
  learn(tools: readonly Tool[]): readonly Tool[] {
    const mirrored = new Map<string, readonly ParamHeader[]>();
    const sound = tools.filter((tool) => {
      const problems: string[] = [];
      const { name, inputSchema } = tool;
      const params =
        typeof inputSchema === 'object' && inputSchema !== null ? paramHeadersOf(inputSchema, (why) => void problems.push(why)) : [];
      if (problems.length > 0) this.#log.warn({ tool: name, why: problems }, 'a tool was dropped: its x-mcp-header is not valid');
      else if (params.length > 0) mirrored.set(name, params);
      return problems.length === 0;
    });
    this.#mirrored = mirrored;
    return sound;
  }

  mirrored(name: string): readonly ParamHeader[] {
    return this.#mirrored.get(name) ?? [];
  }
}
