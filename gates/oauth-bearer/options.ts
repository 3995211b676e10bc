import { type Static, Type } from 'portcullis/gate';

const scope = Type.String({ minLength: 1, maxLength: 256, pattern: '^[\\x21-\\x7E]+$' });
const scopes = (description: string) => Type.Array(scope, { default: [], maxItems: 64, uniqueItems: true, description });
const seconds = (fallback: number, minimum: number, maximum: number, description: string) =>
  Type.Integer({ default: fallback, minimum, maximum, description });
const oneOf = <const T extends readonly [string, ...string[]]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, default: values[0], description });

/** The signature algorithms a token may use unless `algorithms` says otherwise. All asymmetric. */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const;

const algorithms = (description: string) =>
  Type.Array(Type.Unsafe<(typeof ALGORITHMS)[number]>({ type: 'string', enum: ALGORITHMS }), {
    default: [...ALGORITHMS],
    minItems: 1,
    uniqueItems: true,
    description,
  });

const introspection = Type.Object(
  {
    url: Type.String({ maxLength: 2048, description: 'Introspection endpoint (RFC 7662). https unless loopback.' }),
    client_id: Type.String({ minLength: 1, description: 'This resource server at the authorization server.' }),
    client_secret: Type.String({ minLength: 1, description: 'Sent by HTTP Basic. Keep it in a file and interpolate that.' }),
    issuer: Type.Optional(
      Type.String({ minLength: 1, description: 'Which of several issuers the endpoint speaks for. Default: the only one.' }),
    ),
    tokens: oneOf(
      ['opaque', 'all'],
      'opaque: JWTs are verified here, everything else is asked for. all: JWTs are verified here and asked for too, so that a revoked one is refused.',
    ),
    cache_s: seconds(
      30,
      0,
      3600,
      'An active answer is used this long, and never past the token’s expiry. A revoked token lives on for at most this long.',
    ),
    negative_cache_s: seconds(10, 0, 3600, 'An inactive answer is used this long.'),
    answer: oneOf(
      ['json', 'jwt'],
      'json: the plain answer. jwt: only the signed answer of RFC 9701 is accepted, verified with the issuer’s keys.',
    ),
    require_audience: Type.Boolean({
      default: true,
      description: 'false accepts an active answer without `aud`; one that names another audience is refused either way.',
    }),
  },
  { additionalProperties: false, description: 'Asks the authorization server about tokens. Absent: only JWTs are accepted.' },
);

/** Options of `oauth-bearer`. */
export const options = Type.Object(
  {
    issuer: Type.Union(
      [
        Type.String({ minLength: 1, maxLength: 1024 }),
        Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
      ],
      { description: 'Authorization server, or several. Compared with `iss` letter for letter. https unless loopback.' },
    ),
    audience: Type.Optional(
      Type.Union(
        [
          Type.String({ minLength: 1, maxLength: 2048 }),
          Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
        ],
        {
          description:
            'What `aud` must equal or contain, letter for letter. Default: the route’s public URL. A trailing slash, another case or an explicit default port is another audience; list such a spelling here if the authorization server uses it.',
        },
      ),
    ),
    jwks_uri: Type.Optional(
      Type.String({
        maxLength: 2048,
        description: 'Where the keys are. Default: discovered (RFC 8414, then OpenID Connect). One issuer only.',
      }),
    ),
    jwks_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Keys from a local JWK Set, read again every jwks_refresh_s. One issuer only; not with jwks_uri.',
      }),
    ),
    jwks_refresh_s: seconds(300, 5, 86_400, 'Keys are fetched again in the background this often.'),
    jwks_stale_s: seconds(3600, 0, 86_400, 'Keys that could not be fetched again keep serving this long after they were due. Then 503.'),
    algorithms: algorithms('Signature algorithms a token may use.'),
    typ: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      default: ['at+jwt', 'JWT'],
      minItems: 1,
      description: 'Media types the token’s `typ` may name; `application/` may be left out. A token without `typ` counts as JWT.',
    }),
    required_scopes: scopes('Scopes every call needs.'),
    tool_scopes: Type.Record(Type.String({ minLength: 1, maxLength: 256 }), Type.Array(scope, { minItems: 1, maxItems: 64 }), {
      default: {},
      description: 'More scopes for `tools/call` by tool name; * matches any run of characters. All patterns that match count.',
    }),
    implied_scopes: Type.Record(Type.String({ minLength: 1, maxLength: 256 }), Type.Array(scope, { minItems: 1, maxItems: 64 }), {
      default: {},
      description:
        'Narrower scopes that a broader one stands for: a token with the key counts as having the list too, and what that implies.',
    }),
    first_challenge: oneOf(
      ['required', 'all'],
      'Scopes that a 401 names. required: those that this call needs. all: required_scopes and every scope of tool_scopes, for clients that register with the scopes of their first challenge and are refused more later. A 403 names the scopes of the call either way.',
    ),
    scopes_supported: Type.Optional(
      Type.Array(scope, { maxItems: 256, uniqueItems: true, description: 'Told in the RFC 9728 document. Default: required_scopes.' }),
    ),
    principal_claim: Type.String({ default: 'sub', minLength: 1, maxLength: 256, description: 'The claim that becomes the principal.' }),
    groups_claim: Type.String({
      default: 'groups',
      minLength: 1,
      maxLength: 256,
      description:
        'The claim that becomes the fact `groups`: a string or a list of strings. A name that starts with / is a JSON pointer: /realm_access/roles.',
    }),
    clock_tolerance_s: seconds(30, 0, 600, 'How far the clocks may differ when exp, nbf and iat are compared.'),
    max_token_age_s: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 315_360_000, description: 'Refuses tokens issued longer ago, and tokens without `iat`.' }),
    ),
    max_token_bytes: Type.Integer({
      default: 16_384,
      minimum: 256,
      maximum: 65_536,
      description:
        'A longer token is refused unread, with 431 and no challenge: a new login would bring the same token. listener.limits.max_header_bytes bounds the whole head and must leave room.',
    }),
    remembered_tokens: Type.Integer({
      default: 10_000,
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Verified tokens remembered by SHA-256 until they expire; at the limit the least recently used is verified again. 0 verifies each time.',
    }),
    introspection: Type.Optional(introspection),
    dpop: oneOf(
      ['off', 'accept', 'require'],
      'Proof of possession (RFC 9449). off: a token bound to a key is refused. accept: bound tokens need a proof, others do not. require: every token must be bound.',
    ),
    dpop_algorithms: algorithms('Signature algorithms a DPoP proof may use.'),
    dpop_max_age_s: seconds(60, 1, 600, 'A proof is taken this long after its `iat`, plus the clock tolerance, and only once.'),
    dpop_replay_entries: Type.Integer({
      default: 100_000,
      minimum: 1,
      maximum: 10_000_000,
      description: 'Proofs remembered against replay. When all are still fresh, further proofs are answered 503.',
    }),
    dpop_nonce: oneOf(['off', 'require'], 'require: a proof must carry a nonce of this gateway (RFC 9449 section 9).'),
    dpop_nonce_secret: Type.Optional(
      Type.String({
        minLength: 32,
        description: 'The same on every replica, so that a nonce of one counts at all. Absent: one for each process.',
      }),
    ),
    certificate_bound: oneOf(
      ['when_present', 'require'],
      'Tokens bound to a client certificate (RFC 8705). A token with `cnf` is always checked; require refuses tokens without.',
    ),
    certificate_from: oneOf(
      ['any', 'gate', 'connection'],
      'Whose certificate counts. gate: the fact `certificate` of an earlier gate, which is then required. connection: the TLS connection of this listener. any: the fact if there is one, else the connection.',
    ),
    authorization_servers: Type.Optional(
      Type.Array(Type.String({ maxLength: 2048 }), {
        minItems: 1,
        maxItems: 16,
        description: 'Told in the RFC 9728 document. Default: the issuers.',
      }),
    ),
    resource_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Human-readable name in the RFC 9728 document.' }),
    ),
  },
  { additionalProperties: false },
);

export type Options = Static<typeof options>;
