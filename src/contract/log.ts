/** A structured log. Fields are plain JSON values; no token, secret or upstream address is ever put in them. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** A log whose every line carries `fields` too. */
  child(fields: Readonly<Record<string, unknown>>): Log;
}

/** What the log says of a request that was refused. `path` and `detail` may hold what a client sent: they are cut and escaped. */
export interface RefusedRequest {
  readonly request_id: string;
  readonly status: number;
  /** Code of the error table or of a gate. */
  readonly code: string;
  /** Config path of the route; empty when none was found. */
  readonly route: string;
  /** Config name of the gate that refused; empty when no gate did. */
  readonly gate: string;
  readonly http_method: string;
  readonly path: string;
  readonly client_address: string;
  /** W3C trace id, 32 hex digits; undefined when there is none. */
  readonly trace_id?: string | undefined;
  /** Why, for the operator. */
  readonly detail?: string | undefined;
}

/** Writes one line for a refused request. Equal refusals in quick succession become one line with a count. */
export type RefusalLog = (refused: RefusedRequest) => void;
