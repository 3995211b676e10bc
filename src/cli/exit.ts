/** Exit codes of the command line, after sysexits. */
export const EXIT = {
  ok: 0,
  /** `explain`: the request would be refused. `call`: the tool answered that it failed. `doctor`: a check failed. */
  refused: 1,
  /** The command line is wrong. */
  usage: 64,
  /** The address cannot be bound; `call`: the server cannot be reached, ended, or took too long. */
  unavailable: 69,
  /** `stdio`: the client does not read. */
  io: 74,
  /** `call`: the server answered an error, or what is no MCP. */
  protocol: 76,
  /** `call`: the server wants a token, or a better one. */
  denied: 77,
  /** The configuration is wrong. */
  config: 78,
} as const;

/** Thrown by a command that ends with a code other than 0; `message` goes to standard error, if there is one. */
export class CliExit extends Error {
  override readonly name = 'CliExit';
  readonly code: number;

  constructor(code: number, message = '') {
    super(message);
    this.code = code;
  }
}
