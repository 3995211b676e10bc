import { type CliExit, usageError } from '../exit.js';
import type { Answers, Callers, MtlsSource, ServerChoice } from './answers.js';
import { SHA256_FILE } from './ask.js';
import { splitCommandLine } from './command-line.js';

/** What the command line of `init` gave. */
export interface InitFlags {
  readonly upstream?: string;
  readonly command?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly mtls?: MtlsSource;
  readonly trustedProxy?: readonly string[];
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly clientCaFile?: string;
  readonly apiKey?: true;
  readonly public?: true;
  readonly publicUrl?: string;
  readonly path: string;
  readonly host?: string;
  readonly port?: number;
  readonly opsPort: number;
  readonly output: string;
  readonly force?: true;
}

/** The answers that the flags hold; undefined where they say nothing. Throws CliExit 64 when they contradict each other. */
export function answersOf(
  flags: InitFlags,
  words: readonly string[],
): Partial<Pick<Answers, 'server' | 'callers' | 'tls' | 'trusted_proxies'>> {
  const { certFile: cert_file, keyFile: key_file, clientCaFile: client_ca_file, mtls, trustedProxy } = flags;
  if ((cert_file === undefined) !== (key_file === undefined)) throw usageError('--cert-file and --key-file go together');
  if (client_ca_file !== undefined && cert_file === undefined) throw usageError('--client-ca-file needs --cert-file and --key-file');
  if (mtls === 'direct' && client_ca_file === undefined)
    throw usageError('--mtls direct needs --cert-file, --key-file and --client-ca-file');
  if (mtls !== undefined && mtls !== 'direct' && trustedProxy === undefined)
    throw usageError(`--mtls ${mtls} needs --trusted-proxy, the address or CIDR of the TLS terminator`);
  const server = serverOf(flags, words);
  const callers = callersOf(flags);
  return {
    ...(server === undefined ? {} : { server }),
    ...(callers === undefined ? {} : { callers }),
    ...(cert_file === undefined || key_file === undefined ? {} : { tls: { cert_file, key_file, client_ca_file } }),
    ...(trustedProxy === undefined ? {} : { trusted_proxies: trustedProxy }),
  };
}

function serverOf({ upstream, command }: InitFlags, words: readonly string[]): ServerChoice | undefined {
  const [first, ...rest] = words;
  if ([upstream, command, first].filter((way) => way !== undefined).length > 1)
    throw usageError('give one of --upstream, --command, -- COMMAND');
  if (upstream !== undefined) return { kind: 'proxied', url: upstream };
  if (first !== undefined) return { kind: 'stdio', command: first, args: rest };
  if (command === undefined) return undefined;
  const [name, ...args] = splitCommandLine(command) ?? [];
  if (name === undefined) throw usageError('--command is empty, or a quote in it is not closed');
  return { kind: 'stdio', command: name, args };
}

function callersOf({ issuer, audience, mtls, apiKey, public: open }: InitFlags): Callers | undefined {
  if (audience !== undefined && issuer === undefined) throw usageError('--audience needs --issuer');
  if (issuer !== undefined && apiKey) throw usageError('give one of --issuer and --api-key: a caller is identified once');
  const callers: Callers = {
    ...(mtls === undefined ? {} : { mtls: { source: mtls } }),
    ...(issuer === undefined ? {} : { oauth: { issuer, audience } }),
    ...(apiKey ? { api_key: { sha256_file: SHA256_FILE } } : {}),
  };
  const asked = Object.keys(callers).length > 0;
  if (open && asked) throw usageError('--public lets everybody in; leave it out, or the other ways');
  return open ? { public: true } : asked ? callers : undefined;
}

/** Lists the missing flags when standard input is not a terminal. */
export function missingFlags(server: boolean, callers: boolean): CliExit {
  const lines = [
    ...(server ? [] : ['  what stands behind the gateway: --upstream URL, --command LINE or -- COMMAND ARGS']),
    ...(callers ? [] : ['  who may call: --issuer URL, --mtls SOURCE, --api-key or --public']),
  ];
  return usageError(`standard input is not a terminal, so init cannot ask; add\n${lines.join('\n')}`);
}
