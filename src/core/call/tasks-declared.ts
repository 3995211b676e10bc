import { clientOf } from './context.js';
import { isObject, own } from './params.js';
import { type ErrorReply, faultReply } from './reply.js';
import type { CoreRequest } from './request.js';

/** The id of the extension (MCP, Tasks). */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** True for a request whose client takes a task for an answer. */
export function declaresTasks(request: CoreRequest): boolean {
  const { extensions } = clientOf(request).capabilities;
  return isObject(extensions) && isObject(own(extensions, TASKS));
}

/** The answer to a client that would have to take a task and did not say that it can. */
export function tasksMissing(request: CoreRequest): ErrorReply {
  return faultReply(request, { code: 'MISSING_CAPABILITY', data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } });
}
