/** Values that gates learn about a request and hand to later gates and to the runtime. JSON values only. */
export type Facts = Readonly<Record<string, unknown>>;

/**
 * Who is calling. Built only by gates, frozen, never read back from a client header.
 * `issuer` and `principal` together name one caller; logs and metrics never show them as labels.
 */
export interface Identity {
  /** Unique within `issuer`: an OAuth `sub`, a SPIFFE id, the name of an API key. */
  readonly principal: string;
  /** Who vouches: the OAuth issuer, `mtls`, `api-key`. */
  readonly issuer: string;
  readonly scopes: ReadonlySet<string>;
  /** OAuth client id or workload name. */
  readonly client?: string;
  /** Milliseconds since the epoch. A stream opened under this identity ends no later (reason `identity_expired`). */
  readonly expires_at_ms?: number;
  readonly facts: Facts;
}
