import type { Published, Wanted } from '../../contract/changes.js';
import { MAX_URI } from '../define/names.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import { isObject } from './params.js';
import { faultReply, type Prepared } from './reply.js';
import type { CoreEnvironment, CoreRequest } from './request.js';
import { resourceExists } from './resources.js';

/** What one `subscriptions/listen` asks for, whether it can come or not. */
export interface ListenFilter {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  readonly uris: readonly string[];
}

/** Reads `params.notifications`, for a server of any kind. A text says what is wrong. At most 1 000 URIs of at most 4 096 characters. */
export function readListenFilter(notifications: unknown): ListenFilter | string {
  if (!isObject(notifications)) return 'params.notifications must be an object.';
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications;
  for (const flag of [toolsListChanged, promptsListChanged, resourcesListChanged]) {
    if (flag !== undefined && typeof flag !== 'boolean') return 'the list flags of params.notifications must be true or false.';
  }
  const uris = resourceSubscriptions ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string' && uri.length <= MAX_URI))
    return `params.notifications.resourceSubscriptions must hold URIs of at most ${MAX_URI} characters.`;
  if (uris.length > MAX_URIS) return `params.notifications.resourceSubscriptions has more than ${MAX_URIS} URIs.`;
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    uris: [...new Set(uris as string[])],
  };
}

/** `subscriptions/listen`: what was asked for and can come. A URI counts if the resource exists for this caller. */
export function prepareListen(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared {
  const asked = readListenFilter(request.params.notifications);
  if (typeof asked === 'string') return faultReply(request, { code: 'INVALID_PARAMS', detail: asked });
  const publishes: Published = server.definition.changes?.publishes ?? {};
  const known = publishes.updates === true ? asked.uris.filter((uri) => resourceExists(server, request, env, uri)) : [];
  const lists: Published = {
    tools: publishes.tools === true && server.methods.has('tools/list'),
    prompts: publishes.prompts === true && server.methods.has('prompts/list'),
    resources: publishes.resources === true && server.methods.has('resources/list'),
  };
  return { kind: 'listen', wanted: wantedOf(asked, lists, known) };
}

/** What is acknowledged: the lists that were asked for and can change, and the URIs. Undefined: nothing. */
export function wantedOf(asked: ListenFilter, lists: Published, uris: readonly string[]): Wanted | undefined {
  const wanted: Wanted = {
    tools: asked.tools && lists.tools === true,
    prompts: asked.prompts && lists.prompts === true,
    resources: asked.resources && lists.resources === true,
    uris: new Set(uris),
  };
  return wanted.tools || wanted.prompts || wanted.resources || wanted.uris.size > 0 ? wanted : undefined;
}

const MAX_URIS = 1000;
