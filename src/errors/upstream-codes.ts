/** Makes a row. */
export const row = (status: number, rpc: number, message: string, meaning: string, remedy: string): ErrorRow => ({
  status,
  rpc,
  message,
  meaning,
  remedy,
});
/** Errors of what stands behind a route: an upstream over HTTP, or a server that the gateway runs. */
export const UPSTREAM_CODES = {
  UPSTREAM_UNREACHABLE: row(
    502,
    -32603,
    'The MCP server behind this route cannot be reached.',
    'No connection in time, it was refused or reset, or its certificate did not verify; nothing of the call was sent on MCP routes.',
    'Retry; check the upstream and portcullis_upstream_requests_total.',
  ),
  UPSTREAM_DOWN: row(
    503,
    -32603,
    'The MCP server behind this route is not running.',
    'Its command could not be started, ended before it was ready, or ends again and again; it is tried anew after a growing pause.',
    'Retry after the Retry-After seconds; the log says how it ended and what it wrote to standard error.',
  ),
  UPSTREAM_ENDED: row(
    502,
    -32603,
    'The MCP server behind this route ended before it answered.',
    'Its process exited, was killed or closed its output, or its connection closed before an answer, while the call was running.',
    'Retry if the call may run twice; the log says how it ended.',
  ),
  UPSTREAM_BROKEN: row(
    502,
    -32603,
    'The MCP server behind this route gave an unusable answer.',
    'Not JSON or an event stream, cut short, too large, or a redirect.',
    'Check the upstream; the log line says what it sent.',
  ),
  UPSTREAM_REFUSED: row(
    502,
    -32603,
    'The MCP server behind this route refused the gateway.',
    'The upstream answered 401, or a 403 that says nothing about a caller that it was told of (forward_identity), to the gateway’s own credential.',
    'Check the credential in runtimes.*.headers.',
  ),
  UPSTREAM_ANSWER: row(
    400,
    -32600,
    'The MCP server behind this route refused the request.',
    'The upstream answered an error status without a JSON-RPC body; the status is the upstream’s.',
    'Check the request against what the server supports.',
  ),
} as const satisfies Readonly<Record<string, ErrorRow>>;

/** One row of the closed error table: what goes on the wire and what docs/errors.md says. */
export interface ErrorRow {
  /** HTTP status. */
  readonly status: number;
  /** JSON-RPC error code. */
  readonly rpc: number;
  /** Told to the client. */
  readonly message: string;
  readonly meaning: string;
  readonly remedy: string;
}
