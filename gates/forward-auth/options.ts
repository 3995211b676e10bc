import { type Static, Type } from 'portcullis/gate';

const HeaderName = (description: string) => Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', description });

/** The options of the forward-auth gate. */
export const Options = Type.Object(
  {
    url: Type.String({
      pattern: '^https?://[^\\s#]{1,2000}$',
      description: 'Where to ask, with GET. No user name or password; use headers.',
    }),
    timeout_ms: Type.Integer({
      default: 2_000,
      minimum: 1,
      maximum: 60_000,
      description: 'For connecting and the whole answer. Late is 503.',
    }),
    request_headers: Type.Array(HeaderName('A header field of the client.'), {
      default: ['authorization'],
      maxItems: 32,
      description: 'The client’s header fields that the service sees. No other is sent.',
    }),
    headers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }), Type.String({ pattern: '^[ -~]{0,2048}$' }), {
      default: {},
      additionalProperties: false,
      description: 'Fixed header fields, e.g. the gateway’s own credential.',
    }),
    identity: Type.Optional(
      Type.Object(
        {
          principal_header: HeaderName(
            'The field of a 2xx answer that names the caller, in UTF-8. Absent, repeated or in another encoding is 502.',
          ),
          scopes_header: Type.Optional(HeaderName('Scopes, between spaces or commas.')),
          groups_header: Type.Optional(HeaderName('Groups, between commas; they become the fact groups.')),
          client_header: Type.Optional(HeaderName('The client or workload.')),
          issuer: Type.String({ default: 'forward-auth', pattern: '^[^#\\s]{1,512}$', description: 'Issuer of the identity.' }),
        },
        { additionalProperties: false, description: 'Absent: the service admits and refuses, but does not identify the caller.' },
      ),
    ),
    ca_file: Type.Optional(Type.String({ minLength: 1, description: 'PEM file of the CAs that the service’s certificate chains to.' })),
    max_connections: Type.Integer({ default: 32, minimum: 1, maximum: 1_024, description: 'Connections to the service.' }),
  },
  { additionalProperties: false },
);

export type Options = Static<typeof Options>;
