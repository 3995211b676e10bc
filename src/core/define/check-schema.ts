import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../contract/content.js';

/** Checks a value; undefined when it fits, else why not, in at most 300 characters. */
export type Validator = (value: unknown) => string | undefined;

/** Tells one problem of a component. */
export type Report = (message: string) => void;

/**
 * Compiles a JSON Schema 2020-12 once. Nothing is ever fetched: a `$ref` that leaves the schema is a problem, and so is another
 * dialect, a depth of more than 64 or more than 2 000 subschemas (MCP 2026-07-28 Base, "JSON Schema Usage"). `format` is an
 * annotation. Undefined after a problem was reported.
 */
export function compileSchema(schema: JsonSchema, what: string, report: Report): Validator | undefined {
  const problem = boundsOf(schema);
  if (problem !== undefined) {
    report(`${what} ${problem}`);
    return undefined;
  }
  try {
    return toValidator(compiler().compile(schema));
  } catch (error) {
    report(`${what} is not a valid JSON Schema: ${error instanceof Error ? error.message : 'unknown'}`);
    return undefined;
  }
}

/** Keywords whose value is data, not a schema. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 2000;
const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

function boundsOf(root: JsonSchema): string | undefined {
  let count = 0;
  const walk = (node: unknown, depth: number): string | undefined => {
    if (typeof node !== 'object' || node === null) return undefined;
    if (depth > MAX_DEPTH) return `is deeper than ${MAX_DEPTH}`;
    if (!Array.isArray(node) && ++count > MAX_SUBSCHEMAS) return `has more than ${MAX_SUBSCHEMAS} subschemas`;
    for (const [key, value] of Object.entries(node)) {
      if (typeof value === 'string') {
        const fault = faultOfText(key, value);
        if (fault !== undefined) return fault;
      }
      const inner = DATA_KEYWORDS.has(key) ? undefined : walk(value, depth + 1);
      if (inner !== undefined) return inner;
    }
    return undefined;
  };
  return walk(root, 1);
}

function faultOfText(key: string, value: string): string | undefined {
  if ((key === '$ref' || key === '$dynamicRef') && !value.startsWith('#')) return `has ${key} "${value}"; only "#…" is resolved`;
  if (key === '$schema' && !DIALECT.test(value)) return `is written in dialect ${value}; JSON Schema 2020-12 is spoken here`;
  return undefined;
}

let shared: Ajv2020 | undefined;

/** One compiler for all; it keeps no schema by its `$id`, so two servers cannot meet in it. */
function compiler(): Ajv2020 {
  shared ??= new Ajv2020({ strict: false, validateFormats: false, addUsedSchema: false, ownProperties: true, logger: false });
  return shared;
}

function toValidator(validate: ValidateFunction): Validator {
  return (value) => (validate(value) ? undefined : sayWhy(validate.errors?.[0]));
}

function sayWhy(error: ErrorObject | null | undefined): string {
  if (error === null || error === undefined) return 'does not fit the schema';
  const { additionalProperty, allowedValues } = error.params as { additionalProperty?: unknown; allowedValues?: unknown };
  const more =
    additionalProperty !== undefined ? `: ${String(additionalProperty)}` : allowedValues !== undefined ? `: ${String(allowedValues)}` : '';
  return `${error.instancePath === '' ? '' : `${error.instancePath.slice(1)} `}${error.message ?? 'does not fit'}${more}`.slice(0, 300);
}
