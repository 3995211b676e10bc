import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, type ConfigProblem, withRoutePaths } from '../errors/error.js';
import { absoluteFiles } from './files.js';
import type { Finding } from './finding.js';
import { interpolate } from './interpolate.js';
import { parseConfig } from './parse.js';
import { toWhere } from './path.js';
import { applyRules } from './rules.js';
import type { Config } from './schema/config.js';
import type { ConfigSource } from './source.js';
import { fileFault } from './template.js';
import { validate } from './validate.js';
import { type View, viewOf } from './view.js';

/** A configuration that may be run. */
export interface LoadedConfig {
  /** Validated, every default filled, file names absolute, frozen. */
  readonly config: Config;
  /** Absolute name of the file; undefined for a config that was given as an object. */
  readonly file: string | undefined;
  /** Absolute folder that relative names and `npm:` gates are resolved from. */
  readonly folder: string;
  /** One line each, with file, line and column where there is a file. */
  readonly warnings: readonly string[];
  /** Gives later problems their place, through `locate`; undefined for a config that was given as an object. */
  readonly source: ConfigSource | undefined;
  /** Dotted keys of the texts that references were replaced in; their values are never shown. */
  readonly referenced: ReadonlySet<string>;
}

export interface LoadOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that a relative `file` starts at; the working folder when left out. */
  readonly cwd?: string;
}

const MAX_FILE_BYTES = 1_048_576;
const MAX_PROBLEMS = 500;

/** What is known of a config, right or wrong. */
export interface Examined {
  /** Every problem, in the order of the file; empty when `loaded` is there. */
  readonly problems: readonly ConfigProblem[];
  readonly loaded: LoadedConfig | undefined;
  /** The parts that are sound, for checks that go on in spite of problems elsewhere. */
  readonly view: View;
  readonly source: ConfigSource | undefined;
}

/**
 * Reads, parses, interpolates and checks a config file: YAML or JSON, UTF-8, at most 1 MiB. Throws ConfigError with every problem
 * at once (the first 500 of them); nothing of the config is in force then.
 */
export function loadConfig(file: string, options: LoadOptions): LoadedConfig {
  return loadedOrThrow(examineConfig(file, options));
}

/** The same for a config that is an object. Its texts are interpolated too; without `env` every variable is unset. */
export function resolveConfig(input: unknown, options: { readonly env?: LoadOptions['env']; readonly folder: string }): LoadedConfig {
  return loadedOrThrow(examine(input, undefined, { env: options.env ?? {}, folder: resolve(options.folder), file: undefined }));
}

/** Like `loadConfig`, but returns what is wrong. Throws ConfigError only for a file that cannot be read as a mapping at all. */
export function examineConfig(file: string, options: LoadOptions): Examined {
  const absolute = resolve(options.cwd ?? '', file);
  const { value, source } = parseConfig(readText(file, absolute), file);
  return examine(value, source, { env: options.env, folder: dirname(absolute), file: absolute });
}

function loadedOrThrow({ loaded, problems }: Examined): LoadedConfig {
  if (loaded === undefined) throw new ConfigError(problems);
  return loaded;
}

function examine(
  input: unknown,
  source: ConfigSource | undefined,
  scope: { readonly env: LoadOptions['env']; readonly folder: string; readonly file: string | undefined },
): Examined {
  const { value, findings, referenced } = interpolate(input, scope);
  const faults = validate(value, referenced);
  const view = viewOf(value, faults, { ...scope, referenced });
  const report = applyRules(view);
  const named = (problem: ConfigProblem): ConfigProblem => withRoutePaths(problem, (index) => shownPath(value, index, referenced));
  const problems = atMost(firstOfEachPlace([...findings, ...faults, ...report.errors]), source).map(named);
  if (problems.length > 0) return { problems, loaded: undefined, view, source };
  const config = value as Config;
  absoluteFiles(config, view);
  const warnings = inOrder(report.warnings, source).map(({ excerpt: _, ...problem }) => new ConfigError([named(problem)]).message);
  const loaded = { config: deepFreeze(config), file: scope.file, folder: scope.folder, warnings, source, referenced };
  return { problems, loaded, view, source };
}

/** What is at `routes[index].path`; undefined when it came from a reference, whose value is never shown. */
function shownPath(value: unknown, index: number, referenced: ReadonlySet<string>): unknown {
  const { routes } = (value ?? {}) as { readonly routes?: readonly { readonly path?: unknown }[] };
  return referenced.has(toWhere(['routes', index, 'path'])) ? undefined : routes?.[index]?.path;
}

function readText(shown: string, file: string): string {
  const fail = (message: string) => new ConfigError([{ where: '', message: `${shown} ${message}` }]);
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw fail('is not a regular file');
    if (stat.size > MAX_FILE_BYTES) throw fail(`is larger than ${MAX_FILE_BYTES} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const fault = fileFault(error);
    const help = fault === 'does not exist' ? ': name a config with -c FILE or PORTCULLIS_CONFIG, or write one with portcullis init' : '';
    throw fail(fault + help);
  }
}

/** A file that is something else altogether does not flood the terminal. */
function atMost(findings: readonly Finding[], source: ConfigSource | undefined): readonly ConfigProblem[] {
  const placed = inOrder(findings.slice(0, MAX_PROBLEMS), source);
  const rest = findings.length - placed.length;
  return rest === 0 ? placed : [...placed, { where: '', message: `${rest} more problems are not shown` }];
}

/** What is wrong with a value first keeps later checks of the same value from adding to it. */
function firstOfEachPlace(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter((finding) => {
    const place = toWhere(finding.path);
    return !seen.has(place) && seen.add(place);
  });
}

function inOrder(findings: readonly Finding[], source: ConfigSource | undefined): readonly ConfigProblem[] {
  const placed = findings.map((finding) => {
    const problem: ConfigProblem = { where: toWhere(finding.path), message: finding.message };
    if (source === undefined) return { offset: 0, problem };
    const offset = source.offsetOf(finding.path, finding.part);
    return { offset, problem: { ...problem, ...source.at(offset) } };
  });
  return placed.sort((a, b) => a.offset - b.offset).map(({ problem }) => problem);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
