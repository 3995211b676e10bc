import type { Clock } from '../../contract/clock.js';
import type { HandlerContext } from '../../contract/handler.js';
import type { Guarded, ServerRuntime } from '../define/server-runtime.js';
import { createWrapState } from './wrap-state.js';
import { type Handler, wrapHandler } from './wrapper.js';

/** Handlers with their wrappers around them, by component; a component without wrappers is not in it. */
export type WrappedHandlers = ReadonlyMap<Guarded, Handler>;

/** Opens the wrappers of a server's components: counters of their own, as long as whoever serves the server. */
export function openWrappers(server: ServerRuntime, clock: Clock): WrappedHandlers {
  const handlers = new Map<Guarded, Handler>();
  const state = createWrapState();
  const wrap = (component: Guarded, run: (input: never, context: HandlerContext) => unknown): void => {
    if (component.wrap.length === 0) return;
    // A wrapper hands on the context it got, or the same under another token: both are contexts of handlers.
    handlers.set(component, wrapHandler(run as unknown as Handler, component.wrap, clock, state));
  };
  for (const tool of server.tools.values()) wrap(tool, (input, context) => tool.definition.run(input, context));
  for (const resource of server.resources.values()) wrap(resource, (input, context) => resource.definition.read(input, context));
  for (const template of server.templates) wrap(template, (input, context) => template.definition.read(input, context));
  for (const prompt of server.prompts.values()) wrap(prompt, (input, context) => prompt.definition.get(input, context));
  return handlers;
}
