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

const row = (status: number, rpc: number, message: string, meaning: string, remedy: string): ErrorRow => ({
  status,
  rpc,
  message,
  meaning,
  remedy,
});

/** Every error that Portcullis itself tells an HTTP client. Gates add the codes that their modules list. */
export const CODES = {
  BAD_REQUEST: row(
    400,
    -32600,
    'The request head is malformed.',
    'The head breaks RFC 9112 or repeats a field that must be single.',
    'Send one well-formed HTTP/1.1 request with an origin-form target, one Host and one plain decimal Content-Length.',
  ),
  NO_ROUTE: row(
    404,
    -32600,
    'No route has this path.',
    'The exact path is not in the route table; encoded, doubled or dotted spellings never match.',
    'Use the path of the configured route, letter for letter.',
  ),
  METHOD_NOT_ALLOWED: row(
    405,
    -32600,
    'This method is not served here.',
    'The route does not serve the HTTP method.',
    'Use a method of the Allow header.',
  ),
  HOST_NOT_ALLOWED: row(
    403,
    -32600,
    'The Host header is not allowed.',
    'Host is not in listener.allowed_hosts.',
    'Call the public name, or add it to listener.allowed_hosts.',
  ),
  ORIGIN_NOT_ALLOWED: row(
    403,
    -32600,
    'The Origin header is not allowed.',
    'A browser page of another origin made this request.',
    'Add the origin to listener.allowed_origins if it may call.',
  ),
  LENGTH_REQUIRED: row(
    411,
    -32600,
    'Content-Length is required; Transfer-Encoding is not accepted.',
    'The body has no declared length.',
    'Send Content-Length, or set listener.chunked_requests: accept.',
  ),
  BODY_TOO_LARGE: row(
    413,
    -32600,
    'The body is larger than this listener accepts.',
    'Content-Length, or the counted chunks, exceed listener.limits.max_body_bytes.',
    'Send less, or raise the limit.',
  ),
  HEAD_TOO_LARGE: row(
    431,
    -32600,
    'The request head is too large.',
    'The head exceeds max_header_bytes or max_header_count.',
    'Send fewer or shorter header fields, or raise the limit.',
  ),
  HEAD_TIMEOUT: row(
    408,
    -32600,
    'The request head did not arrive in time.',
    'head_timeout_ms or read_timeout_ms passed before the head was complete.',
    'Send the whole head at once.',
  ),
  BODY_TIMEOUT: row(
    408,
    -32600,
    'The request body did not arrive in time.',
    'body_timeout_ms or read_timeout_ms passed before the body was complete.',
    'Send the whole body at once; check the network.',
  ),
  EXPECTATION_FAILED: row(
    417,
    -32600,
    'Only Expect: 100-continue is understood.',
    'The Expect header asks for something else.',
    'Remove the Expect header.',
  ),
  MEDIA_TYPE: row(
    415,
    -32600,
    'Content-Type must be application/json, unencoded, in UTF-8.',
    'The body is declared as something that is not read here.',
    'Send Content-Type: application/json and no Content-Encoding.',
  ),
  NOT_ACCEPTABLE: row(
    406,
    -32600,
    'Accept must admit application/json or text/event-stream.',
    'The client would understand neither kind of answer.',
    'Send Accept: application/json, text/event-stream.',
  ),
  UNAUTHENTICATED: row(
    401,
    -32600,
    'No gate of this route identified the caller.',
    'Every gate passed, none said who calls, and the route is not public.',
    'Send the credential that the route asks for.',
  ),
  GATE_FAILED: row(
    500,
    -32603,
    'A gate failed; the request was refused.',
    'A gate threw or returned something that is not a decision.',
    'See the log line with this request id.',
  ),
  GATE_TIMEOUT: row(
    504,
    -32603,
    'A gate did not decide in time; the request was refused.',
    'The gate passed its timeout_ms.',
    'Retry; check what the gate depends on.',
  ),
  DRAINING: row(
    503,
    -32603,
    'This instance is shutting down.',
    'The request had not fully arrived when the drain began.',
    'Retry on a new connection.',
  ),
  PARSE_ERROR: row(
    400,
    -32700,
    'The body is not JSON that is read here.',
    'Not UTF-8 JSON, an integer of more than 64 digits, or nesting over 128.',
    'Send valid JSON.',
  ),
  INVALID_REQUEST: row(
    400,
    -32600,
    'The body is not one JSON-RPC request.',
    'A batch, a scalar, a bad id, or keys that two parsers could read differently.',
    'Send one JSON-RPC 2.0 object with a string or int64 id and no repeated keys.',
  ),
  INVALID_PARAMS: row(
    400,
    -32602,
    'The request lacks something its revision requires.',
    'A required _meta field is missing or a progressToken is out of bounds.',
    'Send the fields that the revision requires.',
  ),
  COMPONENT_NOT_FOUND: row(
    200,
    -32602,
    'There is no such component.',
    'A hosted server has no tool, prompt or resource of this name, or none that this caller may use. Legacy revisions say -32002 for a resource.',
    'Take names from the lists of the server.',
  ),
  INVALID_ARGUMENTS: row(
    200,
    -32602,
    'The params are not valid.',
    'Arguments of a call to a hosted server do not fit what it declared.',
    'Send what the tool, prompt or method declares.',
  ),
  INVALID_CURSOR: row(
    200,
    -32602,
    'The cursor is not valid.',
    'params.cursor is no nextCursor of this list, or the list is shorter now.',
    'Begin anew without a cursor.',
  ),
  INVALID_STATE: row(
    200,
    -32602,
    'The requestState is not valid for this call.',
    'It is forged, older than ten minutes, of another caller, or of a call with other params.',
    'Begin anew without requestState and inputResponses.',
  ),
  METHOD_NOT_FOUND: row(
    404,
    -32601,
    'Method not found.',
    'The server does not have this method.',
    'Ask server/discover or the capabilities what there is.',
  ),
  UNSUPPORTED_VERSION: row(
    400,
    -32022,
    'Unsupported protocol version.',
    'MCP-Protocol-Version or _meta names a revision that is not served.',
    'Use one of error.data.supported.',
  ),
  HEADER_MISMATCH: row(
    400,
    -32020,
    'The MCP headers do not match the body.',
    'MCP-Protocol-Version, Mcp-Method, Mcp-Name or an Mcp-Param header is missing, malformed, repeated or different from the body.',
    'Mirror the body exactly; base64-wrap values that are not plain ASCII.',
  ),
  MISSING_CAPABILITY: row(
    400,
    -32021,
    'A required client capability was not declared.',
    'The call needs a capability that _meta does not declare.',
    'Declare the capability if the client has it.',
  ),
  SESSION_REQUIRED: row(
    400,
    -32600,
    'Mcp-Session-Id is required.',
    'A session operation came without a session id, or with more than one.',
    'Send the Mcp-Session-Id that initialize returned, once.',
  ),
  SESSION_NOT_FOUND: row(
    404,
    -32600,
    'There is no such session.',
    'The session id is unknown, expired or belongs to someone else.',
    'Start a new session with initialize.',
  ),
  OVERLOADED: row(
    503,
    -32603,
    'This server is at its limit of running and waiting calls.',
    'The executor and its queue, or the upstream pool, are full.',
    'Retry after the Retry-After seconds.',
  ),
  TOO_MANY_STREAMS: row(
    503,
    -32603,
    'This server is at its limit of open subscriptions.',
    'max_subscriptions streams are open.',
    'Retry after the Retry-After seconds; close streams that are not needed.',
  ),
  DEADLINE: row(
    504,
    -32603,
    'The call did not finish in time.',
    'request_timeout_ms passed without an answer or progress, or request_timeout_max_ms in all.',
    'Report progress, make the call shorter, or raise the limit.',
  ),
  RUNTIME_FAILED: row(
    500,
    -32603,
    'The server failed while it handled this call.',
    'A handler crashed.',
    'See the log line with this request id.',
  ),
  UPSTREAM_UNREACHABLE: row(
    502,
    -32603,
    'The MCP server behind this route cannot be reached.',
    'The connection was refused, reset before an answer, or its certificate did not verify.',
    'Retry; check the upstream and portcullis_upstream_requests_total.',
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
    'The upstream answered 401 or 403 to the gateway’s own credential.',
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

export type ErrorCode = keyof typeof CODES;
