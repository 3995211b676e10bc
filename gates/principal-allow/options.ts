import { type Static, Type } from 'portcullis/gate';

const texts = (description: string, pattern?: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 2_048, ...(pattern === undefined ? undefined : { pattern }) }), {
    default: [],
    maxItems: 10_000,
    description,
  });

/** The options of the principal-allow gate. A list with entries must be met; an empty one asks for nothing. */
export const Options = Type.Object(
  {
    principals: texts('One of these callers, written issuer#principal; the issuer ends at the first #.', '^[^#]+#.+$'),
    clients: texts('One of these OAuth clients or workloads.'),
    groups: Type.Optional(
      Type.Object(
        {
          claim: Type.String({
            default: 'groups',
            minLength: 1,
            maxLength: 256,
            description:
              'Where the groups are: a fact of this name, else a claim of the token; a name that starts with / is a JSON pointer into the token.',
          }),
          any: texts('At least one of these groups.'),
          all: texts('Every one of these groups.'),
        },
        { additionalProperties: false, description: 'Groups of the caller; any and all must both be met.' },
      ),
    ),
    spiffe_ids: texts('One of these SPIFFE IDs, from a client certificate; a last segment of * allows everything below.', '^spiffe://.+$'),
    facts: texts('Each of these facts was found by an earlier gate and is neither false nor null.'),
  },
  { additionalProperties: false },
);

export type Options = Static<typeof Options>;
