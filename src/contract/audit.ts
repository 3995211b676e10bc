/** How a request's way through the gates ended. `admitted`: every gate let it pass. */
export type AuditVerdict = 'admitted' | 'refused' | 'timeout' | 'failed';

/** One decision about one request. It has no field for a token, a header or a body, so none can be recorded. */
export interface AuditEvent {
  readonly request_id: string;
  /** Config path of the route; empty when none was found. */
  readonly route: string;
  /** Config name of the gate that decided; empty when no gate did. */
  readonly gate: string;
  readonly verdict: AuditVerdict;
  /** Refusal code; empty when admitted. */
  readonly code: string;
  /** HTTP status of a refusal; 0 when admitted. */
  readonly status: number;
  /** Who calls, as far as a gate had identified anybody. */
  readonly identity: { readonly issuer: string; readonly principal: string } | undefined;
  /** MCP method as claimed or sent; empty when unknown. */
  readonly method: string;
  /** Tool of a `tools/call`. */
  readonly tool: string | undefined;
  readonly client_address: string;
  /** W3C trace id, 32 hex digits; undefined when there is none. */
  readonly trace_id?: string | undefined;
}

/** Receives decisions. Never throws, never blocks. */
export interface Audit {
  decided(event: AuditEvent): void;
}
