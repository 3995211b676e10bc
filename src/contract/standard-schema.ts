import type { Static, TSchema } from './options.js';

/** What a validator found: the value, possibly transformed, or why it is refused (Standard Schema 1). */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One reason for a refusal, and the path to the value that it is about. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A validator of any library that implements Standard Schema 1 (https://standardschema.dev): zod, valibot, arktype and others. From
 * `jsonSchema` (Standard JSON Schema 1) comes the JSON Schema that clients see; zod has it from 4.2, arktype from 2.1.28, valibot with
 * `toStandardJsonSchema` of `@valibot/to-json-schema`.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      /** Of what is validated. Throws when the library cannot express it. */
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Readonly<Record<string, unknown>>;
      /** Of what validation returns. */
      readonly output: (options: { readonly target: 'draft-2020-12' }) => Readonly<Record<string, unknown>>;
    };
  };
}

/** The types of a schema: before validation, and after it. Those of a TypeBox schema are the same. */
export type SchemaInput<S> = S extends StandardSchema
  ? NonNullable<S['~standard']['types']>['input']
  : S extends TSchema
    ? Static<S>
    : never;

/** What validation returns. */
export type SchemaOutput<S> = S extends StandardSchema
  ? NonNullable<S['~standard']['types']>['output']
  : S extends TSchema
    ? Static<S>
    : never;
