import { ClientError } from '../../client.js';
import { CliExit, EXIT } from '../exit.js';
import { explainChallenge } from './challenge.js';
import { plain } from './printed.js';

/** How the command ends when the client failed. `token`: one was sent; undefined when none could be. What is unforeseen is thrown on. */
export function toExit(error: unknown, token: boolean | undefined): CliExit {
  if (!(error instanceof ClientError)) {
    if (error instanceof TypeError || error instanceof RangeError) return new CliExit(EXIT.usage, `error: ${error.message}`);
    throw error;
  }
  const { code } = error;
  const message = plain(error.message);
  switch (code) {
    case 'UNAUTHORIZED':
    case 'FORBIDDEN':
      return new CliExit(EXIT.denied, `error: ${message}\n${explainChallenge(error, token === true)}`);
    case 'RPC_ERROR':
      return new CliExit(
        EXIT.protocol,
        `error: ${message}${error.rpc?.data === undefined ? '' : `\n  data: ${JSON.stringify(error.rpc.data).slice(0, 1000)}`}`,
      );
    case 'INPUT_REQUIRED':
      return new CliExit(EXIT.protocol, `error: ${message}; the command line cannot be asked`);
    case 'NO_COMMON_VERSION':
    case 'BROKEN':
    case 'PAGE_LIMIT':
    case 'TOO_LARGE':
      return new CliExit(EXIT.protocol, `error: ${message}`);
    case 'CANCELLED':
      return new CliExit(EXIT.unavailable, 'cancelled');
    default:
      return new CliExit(EXIT.unavailable, `error: ${message}`);
  }
}
