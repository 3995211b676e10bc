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

/** Makes a row. */
export const row = (status: number, rpc: number, message: string, meaning: string, remedy: string): ErrorRow => ({
  status,
  rpc,
  message,
  meaning,
  remedy,
});
