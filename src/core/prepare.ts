import { prepareCompletion } from './call/completion.js';
import { isLogLevel } from './call/context.js';
import { prepareExtension } from './call/extensions.js';
import { discoverReply, initializeReply, setLevelReply } from './call/handshake.js';
import { prepareListen } from './call/listen.js';
import { isObject, own } from './call/params.js';
import { preparePrompt } from './call/prompts.js';
import { faultReply, type Prepared, type Reply, resultOf } from './call/reply.js';
import type { CoreEnvironment, CoreRequest } from './call/request.js';
import { whyHidden } from './call/request.js';
import { prepareRead, resourceExists, resourceNotFound } from './call/resources.js';
import { prepareTool } from './call/tools.js';
import { encodePage, fromCursor } from './define/encode-lists.js';
import type { ListMethod, ServerRuntime } from './define/server-runtime.js';

/**
 * Finds the requested component and checks its input, without running a handler. Requests that need none are answered at once. A method
 * that the revision, the server or, for an extension, the client does not have does not exist. Never throws.
 */
export function prepare(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared {
  const { method, dialect, params } = request;
  if (!dialect.methods.has(method) || !server.methods.has(method)) {
    return prepareExtension(server, request, env) ?? faultReply(request, { code: 'METHOD_NOT_FOUND' });
  }
  if (dialect.era === 'modern' && isObject(params._meta)) {
    const level = own(params._meta, 'io.modelcontextprotocol/logLevel');
    if (level !== undefined && !isLogLevel(level))
      return faultReply(request, { code: 'INVALID_PARAMS', detail: 'params._meta requests an unknown log level.' });
  }
  switch (method) {
    case 'tools/call':
      return prepareTool(server, request, env);
    case 'tools/list':
    case 'resources/list':
    case 'resources/templates/list':
    case 'prompts/list':
      return listReply(server, request, env);
    case 'resources/read':
      return prepareRead(server, request, env);
    case 'prompts/get':
      return preparePrompt(server, request, env);
    case 'completion/complete':
      return prepareCompletion(server, request, env);
    case 'subscriptions/listen':
      return prepareListen(server, request, env);
    case 'server/discover':
      return discoverReply(server, request);
    case 'initialize':
      return initializeReply(server, request);
    case 'logging/setLevel':
      return setLevelReply(server, request);
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return resourceExists(server, request, env, request.name ?? '') ? resultOf(server, request, '') : resourceNotFound(request);
    default:
      return resultOf(server, request, '');
  }
}

/** One page of a list: encoded once when everybody sees everything, else of what the caller may use. */
function listReply(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Reply {
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
