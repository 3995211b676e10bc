import { type Static, Type } from 'portcullis/gate';

/** The options of the rate gate. */
export const Options = Type.Object(
  {
    limit: Type.Integer({
      default: 60,
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Requests a window; with token_bucket also the burst.',
    }),
    window_ms: Type.Integer({
      default: 60_000,
      minimum: 1,
      maximum: 86_400_000,
      description: 'Length of a window. It starts with a caller’s first request.',
    }),
    by: Type.Enum(['principal', 'client', 'ip'], {
      default: 'principal',
      description: 'Who shares a budget: the principal, its OAuth client (the principal where there is none), or the network address.',
    }),
    algorithm: Type.Enum(['fixed_window', 'token_bucket'], {
      default: 'fixed_window',
      description: 'fixed_window: limit requests, then none until the window ends. token_bucket: the budget refills steadily.',
    }),
    max_keys: Type.Integer({
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
      description: 'Callers that are remembered; the longest idle one is forgotten first.',
    }),
    ipv6_prefix: Type.Integer({
      default: 64,
      minimum: 1,
      maximum: 128,
      description: 'by ip: IPv6 addresses with these leading bits alike share a budget.',
    }),
  },
  { additionalProperties: false },
);

export type Options = Static<typeof Options>;
