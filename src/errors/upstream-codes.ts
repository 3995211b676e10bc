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
    'The connection timed out, was refused or reset, or its certificate did not verify. On MCP routes no part of the call was sent.',
    'Retry; check the upstream and portcullis_upstream_requests_total.',
  ),
  UPSTREAM_DOWN: row(
    503,
    -32603,
    'The MCP server behind this route is not running.',
    'Its command could not be started, ended before it was ready, or keeps ending; it is restarted after a growing pause.',
    'Retry after the Retry-After seconds; the log gives the cause and its standard error output.',
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
    'The answer is not JSON or an event stream, is cut short or too large, or is a redirect.',
    'Check the upstream; the log line says what it sent.',
  ),
  UPSTREAM_REFUSED: row(
    502,
    -32603,
    'The MCP server behind this route refused the gateway.',
    'The upstream answered the gateway’s own credential with 401, or with a 403 that does not concern a forwarded identity (forward_identity).',
    'Check the credential in runtimes.*.headers.',
  ),
  UPSTREAM_ANSWER: row(
    400,
    -32600,
    'The MCP server behind this route refused the request.',
    'The upstream answered an error status without a JSON-RPC body; the status is the upstream’s.',
    'Check the request against what the server supports.',
  ),
  ERA_UNAVAILABLE: row(
    502,
    -32603,
    'The MCP server behind this route does not serve this protocol revision.',
    'The server serves neither the era of the call nor the other one that the gateway could serve it by; or `protocol` names an era that the server does not serve.',
    'Check runtimes.*.protocol, and with portcullis doctor which revisions the server serves.',
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
