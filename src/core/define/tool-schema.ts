import type { ToolResult } from '../../contract/content.js';
import type { HandlerContext } from '../../contract/handler.js';
import type { Awaitable, ToolDefinition } from '../../contract/server.js';
import type { StandardIssue, StandardResult, StandardSchema } from '../../contract/standard-schema.js';
import { isThenable } from '../../executor/executor.js';
import type { Report } from './check-schema.js';

/** What a validator made of a value, or why it refused it, in at most 300 characters. */
export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** Validates with the library of the author. Throws, or rejects, what the validator does. */
export type Parse = (value: unknown) => Awaitable<Parsed>;

/** A schema as clients see it, and the validator in its place where one was given. */
export interface ToolSchemas {
  readonly schema: object;
  readonly parse: Parse | undefined;
}

/** The arguments of a tool. */
export function inputOf({ input, input_schema }: ToolDefinition, report: Report): ToolSchemas {
  if (input === undefined && input_schema === undefined) return { schema: NO_ARGUMENTS, parse: undefined };
  const { schema, parse } = read('input', input, input_schema, report);
  return { schema: parse === undefined || 'type' in schema ? schema : { type: 'object', ...schema }, parse };
}

/** The structured content of a tool; undefined: it declares none. */
export function outputOf({ output, output_schema }: ToolDefinition, report: Report): ToolSchemas | undefined {
  return output === undefined && output_schema === undefined ? undefined : read('output', output, output_schema, report);
}

/** The handler of a tool: with an output validator, the validator's result is sent. */
export function handlerOf(definition: ToolDefinition, parse: Parse | undefined): ToolDefinition['run'] {
  if (parse === undefined) return (input, context) => definition.run(input, context);
  return (input, context: HandlerContext) => then(definition.run(input, context), (answer) => replaced(answer, parse, definition.name));
}

const NO_ARGUMENTS = Object.freeze({ type: 'object', additionalProperties: false });
const TARGET = { target: 'draft-2020-12' } as const;
const MAX_WHY = 300;

type Answer = Awaited<ReturnType<ToolDefinition['run']>>;

function replaced(answer: Answer, parse: Parse, tool: string): Awaitable<Answer> {
  const { structuredContent, isError } = answer as ToolResult;
  if (structuredContent === undefined || isError === true) return answer;
  return then(parse(structuredContent), (parsed) => {
    if (!parsed.ok) throw new TypeError(`tool ${tool} answered what its output schema does not allow: ${parsed.why}`);
    return { ...(answer as ToolResult), structuredContent: parsed.value };
  });
}

/** Synchronous where the value is: an async step costs a turn of the event loop for every call. */
function then<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value as T);
}

function read(side: 'input' | 'output', given: object | undefined, shown: object | undefined, report: Report): ToolSchemas {
  if (!isStandard(given)) {
    if (shown !== undefined) report(`${side}_schema is only for a Standard Schema ${side}; a JSON Schema goes into ${side}`);
    return { schema: given ?? {}, parse: undefined };
  }
  return { schema: shown ?? generated(side, given, report), parse: (value) => then(given['~standard'].validate(value), toParsed) };
}

function generated(side: 'input' | 'output', { '~standard': standard }: StandardSchema, report: Report): object {
  if (standard.jsonSchema === undefined) {
    report(`${side} is a schema of ${standard.vendor} that generates no JSON Schema; give one as ${side}_schema`);
    return { type: 'object' };
  }
  try {
    return standard.jsonSchema[side](TARGET);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    report(`${side} cannot be written as JSON Schema: ${why}; give one as ${side}_schema`);
    return { type: 'object' };
  }
}

/** Validators of some libraries are functions. */
function isStandard(given: object | undefined): given is StandardSchema {
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null) return false;
  return typeof (given as Partial<StandardSchema>)['~standard']?.validate === 'function';
}

function toParsed(result: StandardResult<unknown>): Parsed {
  return result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, why: result.issues.map(issueText).join('; ').slice(0, MAX_WHY) };
}

function issueText({ message, path = [] }: StandardIssue): string {
  const names = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return names.length === 0 ? message : `${names.join('/')}: ${message}`;
}
