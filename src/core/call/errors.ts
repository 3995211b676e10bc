/**
 * Thrown by a tool to tell the model what went wrong: the answer is a result with `isError` and this message as its text. Anything
 * else that a handler throws is a failure of the server, told to the log and not to the client.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * Thrown by any handler to answer with a JSON-RPC error. `code` is -32602, -32603, or an integer that JSON-RPC does not reserve
 * (below -32768 or above -32000); message and data are told to the client as they are. Throws RangeError for any other code.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    if (!Number.isSafeInteger(code) || (code >= -32768 && code <= -32000 && code !== -32602 && code !== -32603)) {
      throw new RangeError(`${code} is reserved by JSON-RPC or MCP; use -32602, -32603 or a number outside -32768 to -32000`);
    }
    this.code = code;
    this.data = data;
  }
}
