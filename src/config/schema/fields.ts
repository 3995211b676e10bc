import { type Static, type TSchema, type TString, Type } from 'typebox';

/** The longest wait that a timer of Node can hold: 2^31 - 1 ms, about 24.8 days. */
export const MAX_MS = 2_147_483_647;

/** A mapping whose keys are all known. With `default: {}` it may be left out and its own defaults apply. */
export function section<const P extends Record<string, TSchema>>(properties: P, options: { description: string; default?: object }) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** A whole number of at least 1, or of at least 0 where `zero` is set. */
export function count(fallback: number, description: string, options: { zero?: true; maximum?: number } = {}) {
  return Type.Integer({
    minimum: options.zero === true ? 0 : 1,
    maximum: options.maximum ?? MAX_MS,
    default: fallback,
    description,
  });
}

/** One of a closed set of words. */
export function choice<const V extends readonly [string, ...string[]]>(values: V, fallback: V[number], description: string) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], default: fallback, description });
}

export function flag(fallback: boolean, description: string) {
  return Type.Boolean({ default: fallback, description });
}

/** A non-empty text of at most `maxLength` characters. */
export function text(
  description: string,
  options: { default?: string; pattern?: string; format?: string; maxLength?: number } = {},
): TString {
  return Type.String({ minLength: 1, maxLength: 4096, ...options, description });
}

/** A file name; relative ones are resolved from the config file's folder. Absolute once the config is loaded. */
export function fileName(description: string): TString {
  return text(`${description} Relative names start at the config file's folder.`);
}

export function list<T extends TSchema>(items: T, description: string, maxItems = 256) {
  return Type.Array(items, { default: [], maxItems, description });
}

/** What names of gates and runtimes look like. They become metric labels, so they are short and plain. */
const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_-]{0,62}$';

/** A mapping from the operator's own names to `value`. */
export function named<T extends TSchema>(value: T, description: string) {
  return Type.Record(Type.String({ pattern: NAME_PATTERN }), value, {
    additionalProperties: false,
    default: {},
    maxProperties: 256,
    description,
  });
}

/** Static header fields by name. */
export function headerFields(description: string) {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    propertyNames: { format: 'static-header' },
    additionalProperties: { type: 'string', format: 'header-value', maxLength: 8192 },
    maxProperties: 64,
    default: {},
    description,
  });
}

/** Variables of a child's environment by name. */
export function environment(description: string) {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    propertyNames: { format: 'variable-name' },
    additionalProperties: { type: 'string', format: 'process-text', maxLength: 65_536 },
    maxProperties: 256,
    default: {},
    description,
  });
}

/** `T` with every property read-only, all the way down. */
export type Frozen<T> = T extends (infer I)[] ? readonly Frozen<I>[] : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** The frozen static type of a schema, every default filled. */
export type Filled<S extends TSchema> = Frozen<Static<S>>;
