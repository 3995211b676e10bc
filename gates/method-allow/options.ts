import { type Static, Type } from 'portcullis/gate';

const globs = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 1_000,
      description: `${description} * is any run of characters.`,
    }),
  );

/** The options of the method-allow gate. A key left out allows all of its kind, an empty list none. */
export const Options = Type.Object(
  {
    methods: globs('MCP methods, e.g. tools/*. Legacy clients also need initialize and notifications/*.'),
    tools: globs('Tools of tools/call.'),
    prompts: globs('Prompts of prompts/get.'),
    resources: globs('URIs of resources/read, resources/subscribe and resources/unsubscribe.'),
  },
  { additionalProperties: false, minProperties: 1 },
);

export type Options = Static<typeof Options>;
