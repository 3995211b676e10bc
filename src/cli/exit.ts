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
  /** `call`: the server answered with an error or with invalid MCP. */
  protocol: 76,
  /** `call`: the server requires a token, or one with more scopes. */
  denied: 77,
  /** The configuration is wrong. */
  config: 78,
  /** SIGINT ended the command, as shells write it: 128 and the signal's number. */
  interrupted: 130,
  /** SIGTERM ended the command. */
  terminated: 143,
} as const;

/** How a command ends that a signal stopped. */
export function stoppedBy(signal: string): CliExit {
  return new CliExit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated, 'stopped');
}

/** Thrown by a command that ends with a code other than 0; `message` goes to standard error, if there is one. */
export class CliExit extends Error {
  override readonly name = 'CliExit';
  readonly code: number;

  constructor(code: number, message = '') {
    super(message);
    this.code = code;
  }
}

/** The command line, or a file that it names, is not what the command takes. */
export function usageError(message: string): CliExit {
  return new CliExit(EXIT.usage, `error: ${message}`);
}
