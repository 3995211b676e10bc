import { LineCounter, parseAllDocuments } from 'yaml';
import { ConfigError, type ConfigProblem } from '../errors/error.js';
import { ConfigSource } from './source.js';

/** How often an anchored value may be repeated by aliases. */
const MAX_ALIASES = 100;

/** The plain value of a YAML or JSON text and where its parts stand. Throws ConfigError for what is not one mapping. */
export function parseConfig(text: string, name: string): { readonly value: unknown; readonly source: ConfigSource } {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    logLevel: 'error',
  });
  if (!Array.isArray(documents)) throw refuse('the file is empty; a config needs at least routes and runtimes', name);
  const document = documents[0];
  if (document === undefined) throw refuse('the file is empty; a config needs at least routes and runtimes', name);
  const source = new ConfigSource(name, text, lines, document);
  const problem = (message: string, offset: number): ConfigProblem => ({ where: '', message, ...source.at(Math.min(offset, text.length)) });

  const faults = [...document.errors, ...document.warnings];
  const bare = faults.find((fault) => isBareReference(text, fault.pos[0]));
  // The text after such a reference is misread: its faults would bury the one that matters.
  if (bare !== undefined) throw new ConfigError([problem(BARE_REFERENCE, Math.max(0, bare.pos[0] - 1))]);
  if (faults.length > 0) throw new ConfigError(firstOfEachLine(faults.map((fault) => problem(explain(fault), fault.pos[0]))));
  const second = documents[1];
  if (second !== undefined) throw new ConfigError([problem('a second document begins here; a config is one document', second.range[0])]);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new ConfigError([problem(explain(error as Error), 0)]);
  }
  if (value === null) throw refuse('the file is empty; a config needs at least routes and runtimes', name);
  if (typeof value !== 'object' || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'a list' : 'a single value';
    throw new ConfigError([problem(`expected a mapping with routes, runtimes and gates, found ${found}`, source.offsetOf([], 'value'))]);
  }
  return { value, source };
}

function refuse(message: string, name: string): ConfigError {
  return new ConfigError([{ where: '', message, file: name, line: 1, column: 1 }]);
}

function explain(fault: Error & { readonly code?: string }): string {
  switch (fault.code) {
    case 'DUPLICATE_KEY':
      return 'this key is already there; keep one of the two';
    case 'TAB_AS_INDENT':
      return 'a tab indents this line; YAML is indented with spaces';
    case 'NON_STRING_KEY':
      return 'a key must be a plain word';
    case 'TAG_RESOLVE_FAILED':
      return 'YAML tags are not used here; remove the !tag';
    case 'RESOURCE_EXHAUSTION':
      return 'this is nested too deeply';
  }
  if (fault.message.startsWith('Unresolved alias')) return 'an alias (*name) has no anchor (&name) before it';
  if (fault.message.startsWith('Excessive alias')) return `aliases repeat a value more than ${MAX_ALIASES} times; write it out`;
  if (fault instanceof RangeError) return 'this is nested too deeply';
  const first = `not valid YAML: ${fault.message.split('\n', 1)[0]}`;
  return NESTED.test(first) ? `${first}; is this line, or the next, indented too far? A text with ": " in it needs quotes` : first;
}

const NESTED = /Nested mappings are not allowed in compact mappings|All mapping items must start at the same column/;
const BARE_REFERENCE = 'within { … } and [ … ] a reference needs quotes: "${NAME}"';

/** True for the brace of a `${` that YAML took for the begin of a mapping. */
function isBareReference(text: string, offset: number): boolean {
  return text[offset] === '{' && text[offset - 1] === '$';
}

/** One fault of YAML often reports several on its line; the first one tells. */
function firstOfEachLine(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const seen = new Set<number | undefined>();
  return problems.filter((problem) => !seen.has(problem.line) && seen.add(problem.line)).slice(0, 50);
}
