import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from '../contract/options.js';
import { isObject } from '../core/call/params.js';
import { didYouMean } from '../errors/did-you-mean.js';
import { type ConfigProblem, within } from '../errors/error.js';

export type CheckedOptions = { readonly options: unknown; readonly problems: readonly ConfigProblem[] };

/**
 * Options of a gate or transport, validated against its schema with defaults filled in, frozen all the way down. Keys that the schema
 * does not name are problems, with a did-you-mean, also where it does not say `additionalProperties: false`. The messages
 * name places and expectations and never a value, which may be a secret.
 */
export function checkOptions(schema: TSchema, given: unknown, where: string): CheckedOptions {
  const options: unknown = structuredClone(given ?? {});
  let errors: readonly ErrorObject[];
  try {
    const validate = compile(schema);
    errors = validate(options) ? [] : (validate.errors ?? []);
  } catch (error) {
    return { options, problems: [{ where, message: `the options schema is unusable: ${String((error as Error).message)}` }] };
  }
  if (errors.length > 0) return { options, problems: toProblems(errors, where) };
  return { options: freeze(options), problems: [] };
}

const compiled = new WeakMap<TSchema, ValidateFunction>();
// verbose: errors carry the schema they come from, which the did-you-mean reads; the data they carry too is never shown.
const ajv = new Ajv2020({ allErrors: true, useDefaults: true, strict: false, validateFormats: false, logger: false, verbose: true });

/** The validator of a schema, compiled once. The schema's `$id` is forgotten again: two gates may use the same one. */
function compile(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const own = closed(schema) as TSchema;
  try {
    const validate = ajv.compile(own);
    compiled.set(schema, validate);
    return validate;
  } finally {
    ajv.removeSchema(own);
  }
}

/** The schema with `additionalProperties: false` wherever an object lists properties and says nothing about others. */
function closed(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const copy: Record<string, unknown> = { ...schema };
  if (isObject(copy.properties)) {
    copy.properties = Object.fromEntries(Object.entries(copy.properties).map(([key, inner]) => [key, closed(inner)]));
    const open = ['additionalProperties', 'patternProperties', 'unevaluatedProperties', 'allOf', 'anyOf', 'oneOf', '$ref'];
    if (!open.some((keyword) => keyword in copy)) copy.additionalProperties = false;
  }
  if ('items' in copy) copy.items = closed(copy.items);
  return copy;
}

function toProblems(errors: readonly ErrorObject[], where: string): readonly ConfigProblem[] {
  const alternatives = new Set(errors.filter((e) => e.keyword === 'anyOf' || e.keyword === 'oneOf').map((e) => e.instancePath));
  const messages = new Map<string, Set<string>>();
  for (const error of errors) {
    if (alternatives.has(error.instancePath) && (error.keyword === 'anyOf' || error.keyword === 'oneOf')) continue;
    const [place, message] = toProblem(error, where);
    messages.set(place, (messages.get(place) ?? new Set()).add(message));
  }
  return [...messages].map(([place, all]) => ({ where: place, message: [...all].join(', or ') }));
}

function toProblem(error: ErrorObject, where: string): readonly [place: string, message: string] {
  const keys = error.instancePath.split('/').slice(1);
  const at = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(step, where);
  const { keyword, params, parentSchema } = error as ErrorObject<
    string,
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>>
  >;
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const key = String(params.additionalProperty ?? params.unevaluatedProperty);
    const known = isObject(parentSchema?.properties) ? Object.keys(parentSchema.properties) : [];
    return [within(at, key), `unknown key${whatInstead(key, known)}`];
  }
  if (keyword === 'required') return [within(at, String(params.missingProperty)), 'is required'];
  if (keyword === 'enum' && Array.isArray(params.allowedValues)) {
    const names = params.allowedValues.map((value) => String(value));
    const close = typeof error.data === 'string' && error.data.length > 3 ? didYouMean(error.data, names) : '';
    return [at, `must be one of ${names.join(', ')}${close}`];
  }
  if (keyword === 'const') return [at, `must be ${JSON.stringify(params.allowedValue)}`];
  return [at, error.message ?? `breaks ${keyword}`];
}

function whatInstead(key: string, known: readonly string[]): string {
  const close = didYouMean(key, known);
  if (close !== '') return close;
  return known.length === 0 || known.length > MAX_LISTED ? '' : `; the keys here are ${known.join(', ')}`;
}

/** Keys that a message lists. */
const MAX_LISTED = 12;

/** A JSON pointer does not tell a list's index from a key of digits; options have no such keys. */
function step(base: string, key: string): string {
  return within(base, /^[0-9]{1,9}$/.test(key) ? Number(key) : key);
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
