import type { Meta } from '../../contract/content.js';
import type { ExtensionRoute, ServerRuntime } from '../define/server-runtime.js';
import { type CallContext, clientOf } from './context.js';
import { isObject, own } from './params.js';
import { type Prepared, type Reply, resultOf } from './reply.js';
import type { CoreEnvironment, CoreRequest } from './request.js';
import { mayUse } from './request.js';
import { runHandler } from './run-handler.js';

/** A method of an extension that the client negotiated; undefined: this client does not have the method. */
export function prepareExtension(server: ServerRuntime, request: CoreRequest, env: CoreEnvironment): Prepared | undefined {
  const route = server.extensions.get(request.method);
  if (route === undefined || request.dialect.era !== 'modern') return undefined;
  const { extensions } = clientOf(request).capabilities;
  if (!isObject(extensions) || own(extensions, route.extension) === undefined) return undefined;
  if (!mayUse(server, route, request, env)) return undefined;
  const { _meta, ...params } = request.params;
  const handler = {
    component: undefined,
    input: undefined,
    may_ask: false,
    call: (context: CallContext) => route.method.run(params, context),
    encode: (answer: unknown) => encode(server, request, route, answer),
  };
  return { kind: 'job', round: undefined, run: (context) => runHandler(handler, server, request, env, context) };
}

function encode(server: ServerRuntime, request: CoreRequest, route: ExtensionRoute, answer: unknown): Reply {
  if (!isObject(answer)) throw new TypeError(`method ${route.view.name} answered no object`);
  const { _meta, resultType, ...members } = answer;
  return resultOf(server, request, JSON.stringify(members).slice(1, -1), _meta as Meta | undefined);
}
