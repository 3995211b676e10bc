import { type Command, Option } from 'commander';
import { usageError } from './exit.js';
import { type Answers, MTLS_SOURCES } from './init/answers.js';
import { askCallers, askPlace, askServer } from './init/ask.js';
import { answersOf, type InitFlags, missingFlags } from './init/flags.js';
import type { Prompt } from './init/prompt.js';
import { Target } from './init/target.js';
import { toPort } from './run.js';
import type { RunIo } from './run-io.js';

/** `portcullis init`: writes a commented config from flags, and on a terminal from the answers to a few questions. Never overwrites unasked. */
export function registerInit(program: Command, io: RunIo): void {
  program
    .command('init')
    .description('write a commented config file from a few questions or flags')
    .usage('[options] [-- command args...]')
    .argument('[command...]', 'after --: the command of an MCP server over stdio')
    .option('--upstream <url>', 'URL of the MCP server')
    .option('--command <line>', 'command line of an MCP server over stdio, quoted as one word')
    .option('--issuer <url>', 'callers bring a token of this authorization server')
    .option('--audience <text>', 'audience of these tokens (default: the URL that clients dial)')
    .addOption(new Option('--mtls <source>', 'callers show a client certificate; who ends TLS').choices(MTLS_SOURCES))
    .option('--trusted-proxy <cidr>', 'the TLS terminator in front; repeat for several', (text: string, before: readonly string[] = []) => [
      ...before,
      text,
    ])
    .option('--cert-file <file>', 'certificate of this gateway: it ends TLS itself')
    .option('--key-file <file>', 'its private key')
    .option('--client-ca-file <file>', 'CA of the client certificates')
    .option('--api-key', 'scripts send a key, which is made and printed once')
    .option('--public', 'everybody may call')
    .option('--public-url <url>', 'how clients see the gateway')
    .option('--path <path>', 'path of the route', '/mcp')
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .addOption(new Option('--port <port>', 'port to listen on').argParser(toPort).default(undefined, '8080'))
    .addOption(new Option('--ops-port <port>', 'port of the ops listener').argParser(toPort).default(9090))
    .option('-o, --output <file>', 'file to write', 'portcullis.yaml')
    .option('--force', 'overwrite the file')
    .action((words: readonly string[], flags: InitFlags) => init(flags, words, io));
}

async function init(flags: InitFlags, words: readonly string[], io: RunIo): Promise<void> {
  const given = answersOf(flags, words);
  const target = new Target(flags.output, io);
  const prompt = io.openPrompt?.();
  try {
    if (target.exists && flags.force !== true && !(await mayOverwrite(flags.output, prompt)))
      throw usageError(`${flags.output} exists; --force overwrites it, --output FILE writes another`);
    await target.write(await complete(flags, given, prompt));
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw usageError('no answer; nothing was written');
    throw error;
  } finally {
    prompt?.close();
  }
}

async function mayOverwrite(file: string, prompt: Prompt | undefined): Promise<boolean> {
  return prompt !== undefined && /^y(es)?$/i.test(await prompt.ask(`${file} exists. Overwrite it? [y/N]: `));
}

/** Everything that is needed: from flags, then from answers, then by default. */
async function complete(flags: InitFlags, given: ReturnType<typeof answersOf>, prompt: Prompt | undefined): Promise<Answers> {
  const open = given.server === undefined || given.callers === undefined;
  if (open && prompt === undefined) throw missingFlags(given.server !== undefined, given.callers !== undefined);
  const server = given.server ?? (await askServer(prompt as Prompt));
  const who = given.callers === undefined ? await askCallers(prompt as Prompt) : { callers: given.callers };
  const asks = open && flags.host === undefined && flags.port === undefined;
  const place = asks ? await askPlace(prompt as Prompt) : { host: flags.host ?? '127.0.0.1', port: flags.port ?? 8080 };
  const { path, opsPort: ops_port, publicUrl: public_url } = flags;
  return { trusted_proxies: [], tls: undefined, ...given, ...who, server, ...place, path, ops_port, public_url };
}
