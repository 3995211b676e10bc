import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { resolveConfig } from '../config/load.js';
import { ConfigError } from '../errors/error.js';
import { CliExit, EXIT } from './exit.js';
import { fromForeign } from './references.js';
import type { CliIo } from './run-io.js';

/** The servers of a client's file as a config has them, and what could not be taken over, one line each. */
export interface ImportedServers {
  readonly runtimes: Readonly<Record<string, object>>;
  readonly routes: readonly { readonly path: string; readonly public: true; readonly runtime: string }[];
  readonly notes: readonly string[];
  /** Absolute folder of the file. */
  readonly folder: string;
}

/**
 * Reads a list of MCP servers as desktop clients keep it: `mcpServers` (Claude, Cursor and others) or `servers` (VS Code), comments
 * and trailing commas allowed, at most 1 MiB. Each server gets a route `/<name>/mcp`; one that makes no valid config is left out, with a
 * note that says why. Throws CliExit 78 when there is none to serve.
 */
export function readMcpServers(file: string, { cwd, env }: Pick<CliIo, 'cwd' | 'env'>, use: ImportUse): ImportedServers {
  const absolute = resolve(cwd, file);
  const servers = serversIn(file, readText(file, absolute));
  const notes: string[] = [];
  const runtimes: Record<string, object> = {};
  for (const [name, entry] of Object.entries(servers)) {
    const note = (what: string): void => void notes.push(`${name}: ${what}`);
    const runtime = toRuntime(entry, note);
    if (runtime === undefined) continue;
    const own = freeName(name, runtimes);
    const problems = problemsOf(own, runtime, use, env, dirname(absolute));
    for (const problem of problems) note(`${problem}; left out`);
    if (problems.length === 0) runtimes[own] = runtime;
  }
  if (Object.keys(runtimes).length === 0) throw fail(file, ['has no server that can be served', ...notes].join('\n  '));
  const routes = Object.keys(runtimes).map(routeOf);
  return { runtimes, routes, notes, folder: dirname(absolute) };
}

/** What the servers are read for. */
export interface ImportUse {
  /** The other sections of the config that they will be in. */
  readonly places: object;
  /** `allow`: a variable that is not set yet may be set before the config is used. */
  readonly unset: 'allow' | 'refuse';
}

const routeOf = (name: string) => ({ path: `/${name}/mcp`, public: true, runtime: name }) as const;

/** Why a config with this server alone is refused, one line each; none: it is taken. */
function problemsOf(name: string, runtime: object, { places, unset }: ImportUse, env: CliIo['env'], folder: string): readonly string[] {
  try {
    resolveConfig({ ...places, runtimes: { [name]: runtime }, routes: [routeOf(name)] }, { env, folder });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const own = error.problems.filter(({ message }) => unset === 'refuse' || !UNSET.test(message));
    return own.map(({ where, message }) => `${where.replace(`runtimes.${name}.`, '')}: ${message}`);
  }
}

/** What a reference to a variable says that may still be set. */
const UNSET = /^environment variable \w+ (?:is not set|is empty|holds only white space)/;

const MAX_BYTES = 1_048_576;

type Entry = Readonly<Record<string, unknown>>;

function readText(file: string, absolute: string): string {
  try {
    if (statSync(absolute).size > MAX_BYTES) throw fail(file, `is larger than ${MAX_BYTES} bytes`);
    return readFileSync(absolute, 'utf8');
  } catch (error) {
    throw error instanceof CliExit ? error : fail(file, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function serversIn(file: string, text: string): Entry {
  let value: unknown;
  try {
    value = parse(withoutComments(text));
  } catch (error) {
    throw fail(file, `is not JSON: ${error instanceof Error ? error.message.split('\n')[0] : ''}`);
  }
  const { mcpServers, servers } = isObject(value) ? value : {};
  const found = mcpServers ?? servers;
  if (!isObject(found)) throw fail(file, 'has neither "mcpServers" nor "servers", a mapping from names to servers');
  return found;
}

/** One server as a runtime; undefined, with a note, for what cannot be served. */
function toRuntime(entry: unknown, note: (what: string) => void): object | undefined {
  if (!isObject(entry)) return void note('is not a mapping; left out');
  if (entry.disabled === true || entry.enabled === false) return void note('is disabled; left out');
  if (entry.envFile !== undefined) note('envFile is not read; put its variables into env');
  const type = entry.type ?? entry.transport;
  if (typeof entry.command === 'string') {
    const { command, args, env, cwd } = entry;
    return {
      kind: 'stdio',
      command: fromForeign(command, note),
      ...(Array.isArray(args) && args.length > 0 ? { args: args.map((arg) => fromForeign(String(arg), note)) } : {}),
      ...(typeof cwd === 'string' ? { cwd: fromForeign(cwd, note) } : {}),
      ...texts('env', env, note),
    };
  }
  const url = entry.url ?? entry.serverUrl ?? entry.httpUrl;
  if (typeof url !== 'string') return void note('has neither a command nor a url; left out');
  const transport = type === 'sse' ? { transport: 'sse' } : {};
  return { kind: 'proxied', url: fromForeign(url, note), ...transport, ...texts('headers', entry.headers, note) };
}

/** A mapping of texts under its key; nothing when it is empty. */
function texts(key: string, value: unknown, note: (what: string) => void): object {
  if (!isObject(value) || Object.keys(value).length === 0) return {};
  return { [key]: Object.fromEntries(Object.entries(value).map(([name, text]) => [name, fromForeign(String(text), note)])) };
}

/** A name that a runtime may have and that is not taken. */
function freeName(name: string, taken: object): string {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 58);
  const base = /^[A-Za-z]/.test(plain) ? plain : `s-${plain}`;
  for (let i = 1; ; i++) {
    const candidate = i === 1 ? base : `${base}-${i}`;
    if (!Object.hasOwn(taken, candidate)) return candidate;
  }
}

/** Comments outside strings become blanks; the rest keeps its place. */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[\s\S])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) => (found.startsWith('"') ? found : ' '));
}

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fail(file: string, what: string): CliExit {
  return new CliExit(EXIT.config, `${file} ${what}`);
}
