import { type Static, Type } from 'portcullis/gate';

const HeaderName = (description: string) => Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', description });

const Names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), { default: [], maxItems: 10_000, description });

/** The options of the mtls gate. Which of them go together is checked by rules.ts when the gate is opened. */
export const Options = Type.Object(
  {
    source: Type.Enum(['direct', 'xfcc', 'rfc9440', 'nginx', 'ingress-nginx', 'traefik', 'haproxy', 'alb'], {
      description: 'Who terminated TLS and how it hands the certificate over. Never guessed.',
    }),
    required: Type.Boolean({
      default: true,
      description: 'false: a request without a certificate passes without identity; a bad one never does.',
    }),
    spiffe_trust_domains: Type.Array(Type.String({ pattern: '^[a-z0-9._-]{1,255}$' }), {
      default: [],
      maxItems: 1_000,
      description: 'When set, the certificate must hold exactly one URI name, a SPIFFE ID of one of these domains.',
    }),
    allow: Type.Object(
      {
        spiffe_ids: Names('SPIFFE IDs; a last segment of * allows everything below.'),
        dns_sans: Names('DNS names of the subjectAltName, compared without case; wildcards are not expanded.'),
        subjects: Names('Subjects as RFC 4514 text, most specific first: CN=alice,O=Example.'),
        sha256: Type.Array(Type.String({ pattern: '^([0-9A-Fa-f]{64}|[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31})$' }), {
          default: [],
          maxItems: 10_000,
          description: 'SHA-256 thumbprints of the certificate in hex, colons or not.',
        }),
      },
      {
        default: {},
        additionalProperties: false,
        description: 'A list that is not empty must hold a name of the certificate; several lists must all.',
      },
    ),
    principal: Type.Optional(
      Type.Enum(['spiffe_id', 'subject', 'dns_san', 'sha256'], {
        description: 'Which name becomes the principal. Default: spiffe_id when trust domains are set, else subject.',
      }),
    ),
    shared_secret: Type.Optional(
      Type.Object(
        {
          header: HeaderName('The header in which the terminator proves itself.'),
          value: Type.String({ pattern: '^[!-~]{1,1024}$', description: 'The secret, printable ASCII without spaces.' }),
        },
        { additionalProperties: false, description: 'Beside the trusted address, the hop must know this secret.' },
      ),
    ),
    cert_header: Type.Optional(HeaderName('nginx, haproxy: the header that carries the certificate.')),
    verify_header: Type.Optional(HeaderName('nginx, haproxy: the header that carries the result of the verification.')),
    verified_header: Type.Optional(
      Type.Object(
        { name: HeaderName('The header that says the certificate was verified.'), value: Type.String({ pattern: '^[!-~]{1,256}$' }) },
        { additionalProperties: false, description: 'rfc9440: the flag without which Client-Cert is not believed.' },
      ),
    ),
    mode: Type.Enum(['verify', 'passthrough'], {
      default: 'verify',
      description: 'alb: who verifies the chain, the load balancer or this gate.',
    }),
    ca_file: Type.Optional(
      Type.String({ minLength: 1, description: 'alb passthrough: PEM file of the client CAs. Read again each minute.' }),
    ),
    hops: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 16,
      description: 'xfcc: exactly how many elements the header has; the leftmost is the client.',
    }),
    text_identity: Type.Boolean({
      default: false,
      description: 'xfcc: believe the Subject, URI and DNS text of a hop that sends Hash but no Cert.',
    }),
    max_header_bytes: Type.Integer({
      default: 24_576,
      minimum: 1_024,
      maximum: 65_536,
      description: 'A longer certificate header is refused.',
    }),
  },
  { additionalProperties: false },
);

export type MtlsOptions = Static<typeof Options>;
