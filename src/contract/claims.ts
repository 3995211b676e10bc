/** `modern`: revision 2026-07-28 and later, metadata in each request. `legacy`: earlier, after an `initialize` handshake. */
export type Era = 'modern' | 'legacy';

/** What the MCP request headers say before the body is known (MCP 2026-07-28 Streamable HTTP, "Request Metadata"). */
export interface Claims {
  readonly era: Era;
  /** The revision of `MCP-Protocol-Version`; 2025-03-26 when the header is absent. */
  readonly revision: string;
  /** True when the header was there. */
  readonly declared: boolean;
  /** `Mcp-Method`; only ever set in the modern era. */
  readonly method: string | undefined;
  /** `Mcp-Name` after `=?base64?…?=` decoding; only ever set in the modern era. */
  readonly name: string | undefined;
}

/** What one scanned message asks for. Built from the body's own bytes. */
export interface CallSummary {
  readonly era: Era;
  readonly revision: string;
  /** JSON-RPC method; empty for a client's response object. */
  readonly method: string;
  /** `params.name`, or `params.uri` for `resources/read`; undefined when the method has none. */
  readonly name: string | undefined;
}
