import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Client, connect, type Target } from '../client.js';
import { shownUrl } from '../config/format/formats.js';
import { SILENT } from '../silent-log.js';
import { findTool, readArguments } from './call/arguments.js';
import { toExit } from './call/challenge.js';
import { printResult, printTools, progressLine } from './call/printed.js';
import { toField } from './config-option.js';
import { CliExit, EXIT, stoppedBy, usageError } from './exit.js';
import type { RunIo } from './run-io.js';

interface CallCommandOptions {
  readonly tokenFile?: string;
  readonly header?: readonly (readonly [string, string])[];
  readonly caFile?: string;
  readonly timeout: number;
  readonly era: 'auto' | 'modern' | 'legacy';
  readonly json?: true;
}

/** `portcullis call`: lists the tools of an MCP server, or calls one; the server is a URL, or after `--` a command. */
export function registerCall(program: Command, io: RunIo): void {
  program
    .command('call')
    .description('call a tool of an MCP server and print its result; without a tool, list them')
    .usage('[options] <url> [tool] [json] | [options] [tool] [json] -- command args...')
    .argument('[words...]', 'URL of the server, name of a tool and its arguments as JSON; after -- the command of a server over stdio')
    .addOption(new Option('--token-file <file>', 'file with an access token, sent as Bearer; - is standard input'))
    .addOption(new Option('--header <name:value>', 'header field of each request; repeat for several').argParser(toField))
    .addOption(new Option('--ca-file <file>', 'PEM of the certificate authorities that the server must chain to'))
    .addOption(
      new Option('--timeout <ms>', 'for each answer; progress starts it again, up to five minutes in all')
        .argParser(toMilliseconds)
        .default(30_000),
    )
    .addOption(new Option('--era <era>', 'protocol era').choices(['auto', 'modern', 'legacy']).default('auto'))
    .addOption(new Option('--json', 'print the list, or the whole result, as JSON'))
    .action(async (words: readonly string[], options: CallCommandOptions) => {
      const { target, tool, args } = readCommand(words, wordsAfterDashes(program), options, io);
      await call(target, tool, args, options, io);
    });
}

interface Wanted {
  readonly target: Target;
  readonly tool: string | undefined;
  readonly args: Readonly<Record<string, unknown>>;
}

function readCommand(words: readonly string[], command: readonly string[] | undefined, options: CallCommandOptions, io: RunIo): Wanted {
  const before = command === undefined ? words : words.slice(0, words.length - command.length);
  const [url, tool, json, more] = command === undefined ? before : [undefined, ...before];
  if (more !== undefined) throw usageError('more than a tool and its arguments; put the JSON in quotes');
  const args = json === undefined ? {} : readArguments(json);
  if (command !== undefined) {
    const [program, ...rest] = command;
    if (program === undefined || program === '') throw usageError('a command goes after --');
    if ((options.tokenFile ?? options.header ?? options.caFile) !== undefined)
      throw usageError('--token-file, --header and --ca-file go with a URL');
    return { target: { stdio: { command: program, args: rest, cwd: io.cwd } }, tool, args };
  }
  if (url === undefined) throw usageError('which server? portcullis call URL, or portcullis call -- COMMAND');
  if (!/^https?:\/\//i.test(url))
    throw usageError(`${JSON.stringify(shownUrl(url))} is not an http:// or https:// URL; a command goes after --`);
  const headers = Object.fromEntries(options.header ?? []);
  const bearer = options.tokenFile === undefined ? {} : { bearer: readFile('--token-file', options.tokenFile, io).trim() };
  const ca = options.caFile === undefined ? {} : { ca: readFile('--ca-file', options.caFile, io) };
  return { target: { http: url, headers, ...bearer, ...ca }, tool, args };
}

async function call(target: Target, tool: string | undefined, args: Wanted['args'], options: CallCommandOptions, io: RunIo): Promise<void> {
  const stop = new AbortController();
  let stopped: string | undefined;
  const release = io.onSignal((signal) => {
    stopped ??= signal;
    stop.abort();
  });
  const { timeout: timeout_ms, era, json = false } = options;
  const log = {
    ...SILENT,
    warn: (fields: Readonly<Record<string, unknown>>, message: string) => io.stderr(`warning: ${message} ${JSON.stringify(fields)}\n`),
  };
  let client: Client | undefined;
  try {
    client = await connect(target, { era, signal: stop.signal, timeout_ms, timeout_max_ms: Math.max(300_000, timeout_ms), log });
    const tools = await client.listTools({ signal: stop.signal });
    if (tool === undefined) return io.stdout(printTools(client.server, tools, json));
    const { name } = findTool(tool, tools);
    const result = await client.callTool(name, args, { signal: stop.signal, onProgress: (progress) => io.stderr(progressLine(progress)) });
    io.stdout(printResult(result, json));
    if (result.isError === true) throw new CliExit(EXIT.refused, `error: ${name} answered that it failed`);
  } catch (error) {
    if (stopped !== undefined) throw stoppedBy(stopped);
    throw error instanceof CliExit ? error : toExit(error, 'http' in target ? options.tokenFile !== undefined : undefined);
  } finally {
    // A signal ends this wait too.
    await client?.close({ signal: stop.signal });
    release();
  }
}

/** The words after `--`; undefined when there is none. */
function wordsAfterDashes(program: Command): readonly string[] | undefined {
  const { rawArgs } = program as Command & { readonly rawArgs: readonly string[] };
  const at = rawArgs.indexOf('--');
  return at < 0 ? undefined : rawArgs.slice(at + 1);
}

function readFile(option: string, file: string, { cwd }: RunIo): string {
  try {
    return readFileSync(file === '-' ? 0 : resolve(cwd, file), 'utf8');
  } catch (error) {
    throw usageError(`${option} ${file} cannot be read (${(error as { readonly code?: string }).code ?? 'unknown'})`);
  }
}

function toMilliseconds(text: string): number {
  const ms = Number(text);
  if (!Number.isSafeInteger(ms) || ms <= 0) throw new InvalidArgumentError('a time is a positive number of milliseconds.');
  return ms;
}
