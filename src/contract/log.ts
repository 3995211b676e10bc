/** A structured log. Fields are plain JSON values; no token, secret or upstream address is ever put in them. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** A log whose every line carries `fields` too. */
  child(fields: Readonly<Record<string, unknown>>): Log;
}
