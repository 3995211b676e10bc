import { type Static, Type } from 'portcullis/gate';

const Key = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$', description: 'Who this key is: the principal becomes api-key#<name>.' }),
    sha256_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'File with the hex SHA-256 of the key, as sha256sum prints it. Relative to the config file.',
      }),
    ),
    sha256: Type.Optional(Type.String({ pattern: '^[0-9A-Fa-f]{64}$', description: 'Instead of a file: the hex SHA-256 of the key.' })),
    scopes: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      default: [],
      maxItems: 100,
      description: 'Scopes of this caller.',
    }),
  },
  { additionalProperties: false },
);

/** The options of the api-key gate. Each key is given by `sha256_file` or `sha256`, not both; checked when the gate is opened. */
export const Options = Type.Object(
  {
    header: Type.String({
      default: 'x-api-key',
      pattern: "^[A-Za-z0-9!#$%&'*+.^`|~-]{1,64}$",
      description: 'The request header that carries the key, alone and without a scheme.',
    }),
    keys: Type.Array(Key, { minItems: 1, maxItems: 1_000, description: 'The keys that are accepted. Read once, at start.' }),
  },
  { additionalProperties: false },
);

export type Options = Static<typeof Options>;
export type Key = Static<typeof Key>;
