import { ClientError } from '../../client.js';
import { CliExit, EXIT, usageError } from '../exit.js';
import { plain } from './printed.js';

/** What a refusal asks for, in words (RFC 6750 section 3, RFC 9728 section 5.1). */
export function explainChallenge({ status, challenge }: ClientError, token_sent: boolean): string {
  const lines: string[] = [];
  const { scheme, parameters } = readChallenge(challenge ?? '');
  const { error, error_description, scope, resource_metadata } = parameters;
  if (error === 'insufficient_scope') lines.push('The token is good, but not enough for this.');
  else if (token_sent) lines.push(status === 403 ? 'This token may not do this.' : 'The server does not take this token.');
  else if (scheme === 'basic') lines.push('The server requires a user name and password: --header "authorization: Basic …".');
  else if (scheme === 'apikey') lines.push(`The server requires an API key: --header "${parameters.header ?? 'x-api-key'}: KEY".`);
  else if (status === 401) lines.push('The server requires an access token: --token-file FILE.');
  else lines.push('The server lets this client not in; it may want a token (--token-file FILE), another address or a certificate.');
  if (error !== undefined)
    lines.push(`It says: ${error}${error_description === undefined ? '' : `, ${error_description.replace(/\.$/, '')}`}.`);
  if (scope !== undefined) lines.push(`Scopes that it needs: ${scope}`);
  if (resource_metadata !== undefined) lines.push(`Who gives tokens for it: ${resource_metadata}`);
  return lines.map((line) => `  ${plain(line)}`).join('\n');
}

/** The first challenge of a `WWW-Authenticate` header (RFC 9110 section 11.6.1): its scheme and the parameters, lower case. */
function readChallenge(header: string): { readonly scheme: string; readonly parameters: Readonly<Record<string, string | undefined>> } {
  const parameters: Record<string, string> = Object.create(null);
  for (const match of header.slice(0, 8192).matchAll(PARAMETER)) {
    const [, name = '', quoted, token] = match;
    parameters[name.toLowerCase()] ??= (quoted?.replace(/\\(.)/g, '$1') ?? token ?? '').slice(0, 1000);
  }
  return { scheme: header.split(' ')[0]?.toLowerCase() ?? '', parameters };
}

const PARAMETER = /([A-Za-z_-]{1,64})[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g;

/** How the command ends when the client failed. `token`: one was sent; undefined when none could be. Unexpected errors are rethrown. */
export function toExit(error: unknown, token: boolean | undefined): CliExit {
  if (!(error instanceof ClientError)) {
    if (error instanceof TypeError || error instanceof RangeError) return usageError(error.message);
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
