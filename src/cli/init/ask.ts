import { whyNotPlainUrl } from '../../config/format/formats.js';
import { whyNotCidr, whyNotHost } from '../../config/format/network.js';
import { type Answers, MTLS_SOURCES, type MtlsSource, type ServerChoice } from './answers.js';
import { splitCommandLine } from './command-line.js';
import type { Prompt } from './prompt.js';

/** Where the SHA-256 of the API key is kept, beside the config. */
export const SHA256_FILE = './portcullis-key.sha256';

/** Why an answer cannot be taken; undefined: it can. */
type Judge = (answer: string) => string | undefined;

/** Asks until the answer can be taken. An empty answer is the default, if there is one. */
async function ask(prompt: Prompt, question: string, judge: Judge, fallback = ''): Promise<string> {
  for (;;) {
    const given = await prompt.ask(`${question}${fallback === '' ? '' : ` [${fallback}]`}: `);
    const answer = given === '' ? fallback : given;
    const fault = answer === '' ? 'needs an answer' : judge(answer);
    if (fault === undefined) return answer;
    question = `  ${fault}\n${question.replace(/^ {2}.*\n/, '')}`;
  }
}

export async function askServer(prompt: Prompt): Promise<ServerChoice> {
  return toServer(await ask(prompt, 'The MCP server: its URL, or the command that starts it', whyNotServer));
}

function whyNotServer(text: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return whyNotPlainUrl(text);
  return splitCommandLine(text) === undefined ? 'a quote is not closed' : undefined;
}

function toServer(answer: string): ServerChoice {
  if (/^https?:\/\//i.test(answer)) return { kind: 'proxied', url: answer };
  const [command = '', ...args] = splitCommandLine(answer) ?? [];
  return { kind: 'stdio', command, args };
}

/** Who may call, and what that needs beside. */
export type CallersAnswer = Pick<Answers, 'callers'> & Partial<Pick<Answers, 'tls' | 'trusted_proxies'>>;

export async function askCallers(prompt: Prompt): Promise<CallersAnswer> {
  const choice = await ask(
    prompt,
    `Who may call?
  1 oauth    whoever has a token of an authorization server
  2 mtls     whoever has a client certificate
  3 api-key  scripts that know a key
  4 public   everybody who reaches the port
1, 2, 3 or 4`,
    (text) => (/^([1-4]|oauth|mtls|api-key|public)$/.test(text) ? undefined : 'answer 1, 2, 3 or 4'),
  );
  if (choice === '1' || choice === 'oauth') {
    const issuer = await ask(prompt, 'Issuer, as its tokens write it (iss)', whyNotPlainUrl);
    return { callers: { oauth: { issuer, audience: undefined } } };
  }
  if (choice === '2' || choice === 'mtls') return askMtls(prompt);
  return { callers: choice === '4' || choice === 'public' ? { public: true } : { api_key: { sha256_file: SHA256_FILE } } };
}

async function askMtls(prompt: Prompt): Promise<CallersAnswer> {
  const names: readonly string[] = MTLS_SOURCES;
  const source = (await ask(
    prompt,
    `Who ends TLS? ${names.join(', ')} (direct: this gateway)`,
    (text) => (names.includes(text) ? undefined : 'answer with one of the names'),
    'direct',
  )) as MtlsSource;
  const callers = { mtls: { source } };
  if (source !== 'direct') {
    return { callers, trusted_proxies: [await ask(prompt, 'Address or CIDR of that terminator', whyNotCidr, '127.0.0.1')] };
  }
  const cert_file = await ask(prompt, 'Certificate file of this gateway, PEM', anything);
  const key_file = await ask(prompt, 'Its private key file, PEM', anything);
  const client_ca_file = await ask(prompt, 'CA file of the client certificates, PEM', anything);
  return { callers, tls: { cert_file, key_file, client_ca_file } };
}

export async function askPlace(prompt: Prompt): Promise<Pick<Answers, 'host' | 'port'>> {
  const host = await ask(prompt, 'Address to listen on', whyNotHost, '127.0.0.1');
  const port = await ask(prompt, 'Port', whyNotPort, '8080');
  return { host, port: Number(port) };
}

const anything: Judge = () => undefined;

function whyNotPort(text: string): string | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? undefined : 'a port is a number up to 65535';
}
