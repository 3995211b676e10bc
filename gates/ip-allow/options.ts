import { type Static, Type } from 'portcullis/gate';

const Network = Type.String({
  minLength: 2,
  maxLength: 64,
  description: 'A CIDR such as 10.0.0.0/8 or 2001:db8::/32, or one address. An IPv4-mapped IPv6 address is its IPv4 address.',
});

/** The options of the ip-allow gate. */
export const Options = Type.Object(
  {
    allow: Type.Array(Network, {
      minItems: 1,
      maxItems: 10_000,
      description: 'Who may pass. 0.0.0.0/0 is every IPv4 address, ::/0 every other IPv6 address.',
    }),
    deny: Type.Array(Network, { default: [], maxItems: 10_000, description: 'Who may not, also where allow says so.' }),
  },
  { additionalProperties: false },
);

export type Options = Static<typeof Options>;
