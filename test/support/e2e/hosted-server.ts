// The module of a hosted runtime in end-to-end tests: the conformance fixture, and tools that show what a handler notices. A test
// whose gateway runs in its own process sees and drives it.
import { setTimeout as sleep } from 'node:timers/promises';
import { createHub, defineTool, Type } from '../../../src/server.js';
import { createConformanceServer } from '../conformance-server/create-server.js';

/** Publishes to every subscription. */
export const hub = createHub();

/** Every `hang` call: its label, and whether its signal has fired. */
export const hanging: { readonly label: string; aborted: boolean }[] = [];

export const server = createConformanceServer(hub, [
  // Waits until it is told to stop, or `for_ms`; with `talk` it tells progress first, so that its answer has become a stream.
  defineTool({
    name: 'hang',
    input: Type.Object({ label: Type.String(), talk: Type.Optional(Type.Boolean()), for_ms: Type.Optional(Type.Integer()) }),
    async run({ label, talk, for_ms = 25_000 }, context) {
      const entry = { label, aborted: false };
      hanging.push(entry);
      if (talk === true) context.progress(1);
      await sleep(for_ms, undefined, { signal: context.signal }).catch(() => undefined);
      entry.aborted = context.signal.aborted;
      return entry.aborted ? 'stopped' : 'done';
    },
  }),
  defineTool({
    name: 'repeat',
    input: Type.Object({ what: Type.String(), times: Type.Integer() }),
    run: ({ what, times }) => what.repeat(times),
  }),
  defineTool({
    name: 'double',
    input: Type.Object({ a: Type.Number() }),
    output: Type.Object({ double: Type.Number() }),
    run: ({ a }) => ({ structuredContent: { double: a * 2 } }),
  }),
]);
