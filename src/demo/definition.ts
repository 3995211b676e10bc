import type { Clock } from '../contract/clock.js';
import { type Change, type ChangeSource, defineTool, type ServerDefinition, ToolError, Type } from '../server.js';

/** A resource that changes every `TICK_MS`, for subscriptions. */
const TICKING_URI = 'demo://ticks';
const TICK_MS = 2_000;

/** What the demo server offers: tools, resources with updates, a template, a prompt and completion. It keeps nothing between requests. */
export function demoDefinition(clock: Clock): ServerDefinition {
  return {
    name: 'portcullis-demo',
    version: '1.0.0',
    instructions: INSTRUCTIONS,
    caching: { ttl_ms: 3_600_000, scope: 'public' },
    tools: [echo, add, countdown(clock), whoami],
    resources: [
      { uri: 'demo://about', name: 'about', description: 'About this server.', mimeType: 'text/plain', read: () => INSTRUCTIONS },
      {
        uri: TICKING_URI,
        name: 'ticks',
        description: 'Changes all the time; subscribe to it.',
        mimeType: 'text/plain',
        read: () => 'tick',
      },
    ],
    templates: [
      {
        uriTemplate: GREETING,
        name: 'greeting',
        mimeType: 'text/plain',
        read: ({ variables }) => GREETINGS.get(variables.language ?? ''),
      },
    ],
    prompts: [
      {
        name: 'greet',
        description: 'Greets somebody.',
        arguments: [
          { name: 'name', description: 'Who is greeted.', required: true },
          { name: 'language', description: [...GREETINGS.keys()].join(', ') },
        ],
        get: ({ name, language = 'en' }) => `Say “${GREETINGS.get(language) ?? GREETINGS.get('en')}, ${name}!” in your own words.`,
      },
    ],
    completions: [
      { prompt: 'greet', argument: 'language', complete: ({ value }) => languages(value) },
      { template: GREETING, argument: 'language', complete: ({ value }) => languages(value) },
    ],
    changes: ticks(clock),
  };
}

const INSTRUCTIONS = 'A demonstration server behind a Portcullis gateway. Try echo, add, countdown and whoami.';
const GREETING = 'demo://greeting/{language}';
const GREETINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({ de: 'Hallo', en: 'Hello', es: 'Hola', fr: 'Bonjour', it: 'Ciao', pt: 'Olá' }),
);
const COUNT_MS = 300;

const languages = (begun: string) => [...GREETINGS.keys()].filter((language) => language.startsWith(begun));

const echo = defineTool({
  name: 'echo',
  description: 'Returns the text it is given.',
  input: Type.Object({ text: Type.String({ maxLength: 10_000 }) }, { additionalProperties: false }),
  run: ({ text }) => text,
});

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: Type.Object({ a: Type.Number(), b: Type.Number() }, { additionalProperties: false }),
  output: Type.Object({ sum: Type.Number() }, { additionalProperties: false }),
  run({ a, b }) {
    const sum = a + b;
    if (!Number.isFinite(sum)) throw new ToolError('The sum is too large.');
    return { structuredContent: { sum } };
  },
});

const countdown = (clock: Clock) =>
  defineTool({
    name: 'countdown',
    description: `Counts down, one step every ${COUNT_MS} ms, with progress. Stops when the client leaves.`,
    input: Type.Object({ from: Type.Integer({ minimum: 1, maximum: 60 }) }, { additionalProperties: false }),
    async run({ from }, context) {
      for (let done = 1; done <= from; done++) {
        await wait(clock, COUNT_MS, context.signal);
        context.progress(done, from, `${from - done} to go`);
      }
      return `Counted down from ${from}.`;
    },
  });

const whoami = defineTool({
  name: 'whoami',
  description: 'Shows who is calling, as the gates found it.',
  input: Type.Object({}, { additionalProperties: false }),
  output: Type.Object({ identity: Type.Unsafe({ type: ['object', 'null'] }) }, { additionalProperties: false }),
  run(_input, { identity }) {
    if (identity === undefined) return { structuredContent: { identity: null } };
    const { issuer, principal, client, scopes } = identity;
    return { structuredContent: { identity: { issuer, principal, client, scopes: [...scopes] } } };
  },
});

/** Publishes updates of `TICKING_URI`, as long as somebody listens. */
function ticks(clock: Clock): ChangeSource {
  return {
    publishes: { updates: true },
    async *open(wanted, { signal }): AsyncGenerator<Change> {
      if (!wanted.uris.has(TICKING_URI)) return;
      while (!signal.aborted) {
        await wait(clock, TICK_MS, signal);
        yield { kind: 'resource', uri: TICKING_URI };
      }
    },
  };
}

/** Settles after `delay_ms`; rejects when the signal aborts. */
function wait(clock: Clock, delay_ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.cancel();
      reject(new Error('the caller is gone'));
    };
    const timer = clock.timer(delay_ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
