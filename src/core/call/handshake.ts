import type { Dialect } from '../../dialect/dialect.js';
import { MODERN } from '../../dialect/methods.js';
import { negotiate } from '../../dialect/select.js';
import { legacyClientOf } from '../client-seal.js';
import type { ServerRuntime } from '../define/server-runtime.js';
import { isLogLevel } from './context.js';
import { faultReply, type Reply, resultOf } from './reply.js';
import type { CoreRequest } from './request.js';
import { TASKS } from './tasks-declared.js';

/** `server/discover` (MCP 2026-07-28). Versions are those that need no handshake; the others are reached through `initialize`. */
export function discoverReply(server: ServerRuntime, request: CoreRequest): Reply {
  const { instructions } = server.definition;
  const told = JSON.stringify({ supportedVersions: [MODERN], capabilities: capabilitiesOf(server, request.dialect), instructions });
  return resultOf(server, request, `${told.slice(1, -1)},${request.dialect.hints(server.caching)}`);
}

/** `initialize`: negotiates the revision; the session learns what the client says of itself. */
export function initializeReply(server: ServerRuntime, request: CoreRequest): Reply {
  const { protocolVersion } = request.params;
  if (typeof protocolVersion !== 'string')
    return faultReply(request, { code: 'INVALID_ARGUMENTS', detail: 'initialize needs params.protocolVersion.' });
  const dialect = negotiate(protocolVersion);
  if (request.session !== undefined) request.session.client = legacyClientOf(request.params, dialect.revision);
  const told = JSON.stringify({
    protocolVersion: dialect.revision,
    capabilities: capabilitiesOf(server, dialect),
    serverInfo: serverInfo(server, dialect),
    instructions: server.definition.instructions,
  });
  return resultOf(server, request, told.slice(1, -1));
}

/** `logging/setLevel`: a good level holds for the session in this process. Where there is none it is accepted, and `info` and above are sent all the same. */
export function setLevelReply(server: ServerRuntime, request: CoreRequest): Reply {
  const { level } = request.params;
  if (!isLogLevel(level)) return faultReply(request, { code: 'INVALID_ARGUMENTS', detail: 'params.level is not a log level.' });
  if (request.session !== undefined) request.session.log_level = level;
  return resultOf(server, request, '');
}

function capabilitiesOf(server: ServerRuntime, { era }: Dialect): object {
  const { definition, methods } = server;
  const { tools = false, prompts = false, resources = false, updates = false } = definition.changes?.publishes ?? {};
  // No legacy client has a stream for changes here, so capabilities that need one are not declared.
  const delivers = era === 'modern';
  const changed = (yes: boolean) => (delivers && yes ? { listChanged: true } : {});
  const tasks = [...server.tools.values()].some((tool) => tool.definition.task !== undefined) ? [[TASKS, {}] as const] : [];
  const extensions = [...Object.entries(definition.extensions ?? {}).map(([id, { settings = {} }]) => [id, settings] as const), ...tasks];
  return {
    ...(methods.has('tools/list') ? { tools: changed(tools) } : {}),
    ...(methods.has('resources/list') ? { resources: { ...(delivers && updates ? { subscribe: true } : {}), ...changed(resources) } } : {}),
    ...(methods.has('prompts/list') ? { prompts: changed(prompts) } : {}),
    ...(methods.has('completion/complete') ? { completions: {} } : {}),
    logging: {},
    ...(era === 'modern' && extensions.length > 0 ? { extensions: Object.fromEntries(extensions) } : {}),
  };
}

/** What the server says of itself, in the members that the revision has. */
function serverInfo({ definition }: ServerRuntime, { items }: Dialect): object {
  const { name, version, title, description, websiteUrl, icons } = definition;
  return { name, version, ...(items.title ? { title } : {}), ...(items.icons ? { description, websiteUrl, icons } : {}) };
}
