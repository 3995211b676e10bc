import type { Published, Wanted } from '../../contract/changes.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import { isObject } from './params.js';
import { faultReply } from './reply.js';
import type { CoreEnvironment, CoreRequest, Prepared } from './request.js';
import { resourceExists } from './resources.js';

/**
 * `subscriptions/listen`: what was asked for and can come. A URI counts if the resource exists for this caller. At most 1 000 URIs
 * of at most 4 096 characters.
 */
export function prepareListen(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared {
  const bad = (detail: string) => faultReply(request, { code: 'INVALID_ARGUMENTS', detail });
  const { notifications } = request.params;
  if (!isObject(notifications)) return bad('params.notifications must be an object.');
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications;
  for (const flag of [toolsListChanged, promptsListChanged, resourcesListChanged]) {
    if (flag !== undefined && typeof flag !== 'boolean') return bad('the list flags of params.notifications must be true or false.');
  }
  const uris = resourceSubscriptions ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string' && uri.length <= MAX_URI))
    return bad(`params.notifications.resourceSubscriptions must hold URIs of at most ${MAX_URI} characters.`);
  if (uris.length > MAX_URIS) return bad(`params.notifications.resourceSubscriptions has more than ${MAX_URIS} URIs.`);
  const publishes: Published = server.definition.changes?.publishes ?? {};
  const known = publishes.updates === true ? uris.filter((uri: string) => resourceExists(server, request, env, uri)) : [];
  const wanted: Wanted = {
    tools: toolsListChanged === true && publishes.tools === true && server.methods.has('tools/list'),
    prompts: promptsListChanged === true && publishes.prompts === true && server.methods.has('prompts/list'),
    resources: resourcesListChanged === true && publishes.resources === true && server.methods.has('resources/list'),
    uris: new Set<string>(known),
  };
  const any = wanted.tools || wanted.prompts || wanted.resources || wanted.uris.size > 0;
  return { kind: 'listen', wanted: any ? wanted : undefined };
}

const MAX_URIS = 1000;
const MAX_URI = 4096;
