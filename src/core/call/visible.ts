import type { Guarded, ServerRuntime } from '../define/server-runtime.js';
import type { CoreEnvironment, CoreRequest } from './request.js';

/** True when the caller may use the component. If not, the environment is told why, and the answer says that there is none. */
export function mayUse(server: ServerRuntime, component: Guarded, request: CoreRequest, env: CoreEnvironment): boolean {
  const why = whyHidden(server, component, request, env);
  if (why !== undefined) env.hidden?.(request, component.view, why);
  return why === undefined;
}

/** Why the caller does not see the component; undefined: it does. A policy that throws hides. */
export function whyHidden(
  server: ServerRuntime,
  { view, scopes }: Guarded,
  request: CoreRequest,
  env: CoreEnvironment,
): 'scopes' | 'policy' | undefined {
  const { identity } = request;
  if (scopes !== undefined && !scopes.every((scope) => identity?.scopes.has(scope) === true)) return 'scopes';
  if (server.policy === undefined) return undefined;
  try {
    return server.policy(identity, view) === true ? undefined : 'policy';
  } catch (error) {
    env.crashed(request, error);
    return 'policy';
  }
}
