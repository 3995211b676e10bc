import type { ResourceContents, ResourceResult } from '../../contract/content.js';
import type { Caching, ReadAnswer, ResourceDefinition } from '../../contract/server.js';
import { CODES } from '../../errors/codes.js';
import { toEcho } from '../../wire/text.js';
import type { Guarded, ServerRuntime } from '../define/server-runtime.js';
import type { CallContext } from './context.js';
import { isObject } from './params.js';
import { errorReply, faultReply, type Prepared, type Reply, resultOf } from './reply.js';
import type { CoreEnvironment, CoreRequest } from './request.js';
import { mayUse, whyHidden } from './request.js';
import { readRound } from './rounds.js';
import { runHandler } from './run-handler.js';

/** `resources/read`: a resource of this URI, or the first template that makes it and that the caller may use. */
export function prepareRead(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared {
  const found = findResource(server, request.name ?? '', (component) => mayUse(server, component, request, env));
  if (found === undefined) return resourceNotFound(request);
  const round = readRound(server, request, env);
  if (!round.ok) return faultReply(request, round.fault);
  // What depends on a client's answers is not part of the key that a cache would keep it by.
  const caching = round.value === undefined ? found.caching : NOT_CACHED;
  const handler = {
    component: found.component,
    input: found.input,
    may_ask: true,
    call: found.read,
    encode: (answer: ReadAnswer) => encodeRead(server, request, found.mimeType, caching, answer),
  };
  return { kind: 'job', round: round.value, run: (context) => runHandler(handler, server, request, env, context) };
}

/** True when the URI is a resource, or made by a template, that the caller may use. */
export function resourceExists(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment, uri: string): boolean {
  return findResource(server, uri, (component) => whyHidden(server, component, request, env) === undefined) !== undefined;
}

/**
 * The error for a resource that is not there, or not for this caller. Its data is the URI and nothing else: by that clients know it
 * among all -32602 (MCP 2026-07-28 Resources, "Error Handling").
 */
export function resourceNotFound(request: CoreRequest): Reply {
  const { status } = CODES.COMPONENT_NOT_FOUND;
  return errorReply(request, request.dialect.resource_not_found, 'Resource not found', { uri: request.name }, status);
}

interface Found {
  readonly component: Guarded;
  readonly input: unknown;
  readonly caching: Required<Caching>;
  readonly mimeType: string | undefined;
  read(context: CallContext): ReturnType<ResourceDefinition['read']>;
}

function findResource(server: ServerRuntime, uri: string, may: (component: Guarded) => boolean): Found | undefined {
  const resource = server.resources.get(uri);
  if (resource !== undefined && may(resource)) {
    const { definition, caching } = resource;
    return {
      component: resource,
      input: { uri },
      caching,
      mimeType: definition.mimeType,
      read: (context) => definition.read({ uri }, context),
    };
  }
  for (const template of server.templates) {
    const variables = template.pattern.match(uri);
    if (variables === undefined || !may(template)) continue;
    const { definition, caching } = template;
    const input = { uri, variables };
    return { component: template, input, caching, mimeType: definition.mimeType, read: (context) => definition.read(input, context) };
  }
  return undefined;
}

const NOT_CACHED: Required<Caching> = { ttl_ms: 0, scope: 'private' };

function encodeRead(
  server: ServerRuntime,
  request: CoreRequest,
  mimeType: string | undefined,
  caching: Required<Caching>,
  answer: unknown,
): Reply {
  if (answer === undefined) return resourceNotFound(request);
  const uri = request.name ?? '';
  const { contents, _meta } = toContents(uri, mimeType, answer);
  const hints = request.dialect.hints(caching);
  return resultOf(server, request, `"contents":${JSON.stringify(contents)}${hints === '' ? '' : `,${hints}`}`, _meta);
}

function toContents(uri: string, mimeType: string | undefined, answer: unknown): ResourceResult {
  const head = mimeType === undefined ? { uri } : { uri, mimeType };
  if (typeof answer === 'string') return { contents: [{ ...head, text: answer }] };
  if (answer instanceof Uint8Array) return { contents: [{ ...head, blob: toBase64(answer) }] };
  const { contents } = isObject(answer) ? (answer as unknown as ResourceResult) : { contents: undefined };
  if (!Array.isArray(contents) || contents.length === 0 || !contents.every(isContents)) {
    throw new TypeError(`the resource answered no text, bytes or contents: ${toEcho(uri)}`);
  }
  return answer as ResourceResult;
}

function isContents(value: unknown): value is ResourceContents {
  return isObject(value) && typeof value.uri === 'string' && (typeof value.text === 'string' || typeof value.blob === 'string');
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
