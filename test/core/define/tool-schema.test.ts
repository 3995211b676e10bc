import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { ConfigError } from '../../../src/errors/error.js';
import {
  createDispatch,
  defineServer,
  defineTool,
  type StandardResult,
  type StandardSchema,
  systemClock,
  type ToolDefinition,
  ToolError,
  withRateLimit,
} from '../../../src/server.js';

const METERS = z.object({ meters: z.string().regex(/^\d+$/).transform(Number), unit: z.enum(['ft', 'yd']).default('ft') });
const LENGTH = z.object({ value: z.number(), unit: z.string().default('ft') });
const TEXTS = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

/** A validator without JSON Schema, which answers as `verdict` says. */
function validator<T>(verdict: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>): StandardSchema<T> {
  return { '~standard': { version: 1, vendor: 'ours', validate: verdict } };
}

const serve = (...tools: readonly ToolDefinition[]) => {
  const crashes: unknown[] = [];
  const dispatch = createDispatch(defineServer({ name: 'x', version: '1', tools }), {
    clock: systemClock,
    crashed: (error) => void crashes.push(error),
  });
  const ask = async (method: string, params: Readonly<Record<string, unknown>> = {}): Promise<any> => dispatch({ method, params });
  return { crashes, ask, call: (args: object) => ask('tools/call', { name: tools[0]?.name, arguments: args }) };
};

const problemsOf = (tool: Partial<ToolDefinition>): readonly string[] => {
  try {
    defineServer({ name: 'x', version: '1', tools: [{ name: 't', run: () => '', ...tool }] });
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems.map(({ message }) => message);
  }
  return [];
};

describe('a tool with a Standard Schema', () => {
  const convert = defineTool({
    name: 'convert',
    input: METERS,
    output: LENGTH,
    run: ({ meters, unit }) => ({ structuredContent: { value: meters * 3, unit, more: 'is dropped' } }),
  });

  it('lists the JSON Schemas of what is sent, each way', async () => {
    const { result } = await serve(convert).ask('tools/list');
    const [{ inputSchema, outputSchema }] = result.tools;
    assert.deepEqual([inputSchema.type, inputSchema.required], ['object', ['meters']]);
    assert.deepEqual([inputSchema.properties.unit.enum, inputSchema.properties.unit.default], [['ft', 'yd'], 'ft']);
    assert.deepEqual([outputSchema.required, outputSchema.additionalProperties], [['value', 'unit'], false]);
  });

  it('runs with what the validator returns, and sends what it returns', async () => {
    const { result } = await serve(convert).call({ meters: '2' });
    assert.deepEqual([result.structuredContent, result.content[0].text], [{ value: 6, unit: 'ft' }, '{"value":6,"unit":"ft"}']);
  });

  it('tells the model what is wrong and where', async () => {
    const { result } = await serve(convert).call({ meters: 'two' });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /^The arguments are not valid: meters: Invalid string/);
  });

  it('holds the result to the output, also behind a wrapper', async () => {
    const run = () => ({ structuredContent: { value: 'six' as never } });
    const server = serve(defineTool({ name: 't', input: z.object({}), output: LENGTH, run, wrap: [withRateLimit({ limit: 9 })] }));
    assert.equal((await server.call({})).error.data.code, 'RUNTIME_FAILED');
    assert.match(String(server.crashes[0]), /tool t answered what its output schema does not allow: value: /);
  });

  it('a call that is refused costs no rate', async () => {
    const server = serve(defineTool({ name: 't', input: METERS, wrap: [withRateLimit({ limit: 1 })], run: () => 'fine' }));
    assert.equal((await server.call({ meters: 'two' })).result.isError, true);
    assert.equal((await server.call({ meters: '2' })).result.content[0].text, 'fine');
    assert.equal((await server.call({ meters: '2' })).result.content[0].text, 'Component rate limit reached');
  });

  it('may answer later, be a function, and throw', async () => {
    const verdict = (value: unknown): Promise<StandardResult<{ text: string }>> => {
      const { text } = value as { readonly text?: string };
      if (text === 'sad') return Promise.reject(new ToolError('not today'));
      if (text === 'broken') throw new Error('password is hunter2');
      return Promise.resolve(
        text === 'bad' ? { issues: [{ message: 'is bad', path: ['text', { key: 0 }] }] } : { value: { text: `${text}!` } },
      );
    };
    const input = Object.assign(() => undefined, validator(verdict));
    const server = serve(defineTool({ name: 't', input, input_schema: TEXTS, run: ({ text }) => text }));
    assert.equal((await server.call({ text: 'a' })).result.content[0].text, 'a!');
    assert.equal((await server.call({ text: 'bad' })).result.content[0].text, 'The arguments are not valid: text/0: is bad');
    assert.equal((await server.call({ text: 'sad' })).result.content[0].text, 'not today');
    assert.equal((await server.call({ text: 'broken' })).error.data.code, 'RUNTIME_FAILED');
    assert.deepEqual((await server.ask('tools/list')).result.tools[0].inputSchema, TEXTS);
  });

  it('needs a JSON Schema to show: its own, or the author’s', () => {
    const any = validator((value) => ({ value }));
    assert.deepEqual(problemsOf({ input: any }), ['input is a schema of ours that generates no JSON Schema; give one as input_schema']);
    assert.deepEqual(problemsOf({ output: any, output_schema: TEXTS, input: any, input_schema: TEXTS }), []);
    assert.match(
      problemsOf({ output: z.object({ at: z.date() }) })[0] ?? '',
      /^output cannot be written as JSON Schema: .*; give one as output_schema$/,
    );
    assert.deepEqual(problemsOf({ input: z.string() }), ['input must be a schema of type object']);
    assert.deepEqual(problemsOf({ input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }), []);
  });

  it('a JSON Schema is given once', () => {
    assert.deepEqual(problemsOf({ input: TEXTS, input_schema: TEXTS }), [
      'input_schema is only for a Standard Schema input; a JSON Schema goes into input',
    ]);
    assert.deepEqual(problemsOf({ output_schema: TEXTS }), [
      'output_schema is only for a Standard Schema output; a JSON Schema goes into output',
    ]);
  });
});
