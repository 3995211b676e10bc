import { encodePage, fromCursor, type ListMethod } from '../define/encode-lists.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import { faultReply } from './reply.js';
import type { CoreEnvironment, CoreRequest, Reply } from './request.js';
import { whyHidden } from './visible.js';

/** One page of a list: encoded once when everybody sees everything, else of what the caller may use. */
export function listReply(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Reply {
  const method = request.method as ListMethod;
  const { dialect, params } = request;
  const list = server.lists.get(dialect.revision)![method];
  const page_size = server.definition.page_size ?? 100;
  const items =
    list.pages === undefined ? list.items.filter(({ component }) => whyHidden(server, component, request, env) === undefined) : list.items;
  const { cursor } = params;
  const from = cursor === undefined ? 0 : typeof cursor === 'string' ? fromCursor(method, cursor, page_size, items.length) : undefined;
  if (from === undefined) return faultReply(request, { code: 'INVALID_CURSOR' });
  const json = list.pages?.[from / page_size] ?? encodePage(dialect, method, list, items, from, page_size, server.info);
  return { kind: 'result', json, outcome: 'ok' };
}
