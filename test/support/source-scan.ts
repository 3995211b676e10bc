import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryPath } from './repository.js';

/** One import, export-from or dynamic import of a source file. */
export interface Edge {
  readonly from: string;
  /** As written; undefined for a dynamic import of something computed. */
  readonly specifier: string | undefined;
  /** Path from the root for a relative specifier, with `.ts`; else the specifier. */
  readonly to: string;
  /** True when nothing of it is left after compilation. */
  readonly type_only: boolean;
}

export interface SourceFile {
  /** Path from the root. */
  readonly name: string;
  readonly lines: number;
  /** The text without comments; every string is `§n§`. */
  readonly code: string;
  readonly edges: readonly Edge[];
}

/** Every TypeScript file below these folders of the repository. */
export function scanSources(folders: readonly string[]): readonly SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .sort()
      .map((file) => scanSource(`${folder}/${file}`, readFileSync(repositoryPath(`${folder}/${file}`), 'utf8'))),
  );
}

export function scanSource(name: string, text: string): SourceFile {
  const { code, strings } = stripSource(text);
  const edges: Edge[] = [];
  const add = (index: string | undefined, type_only: boolean) => {
    const specifier = index === undefined ? undefined : strings[Number(index)];
    edges.push({ from: name, specifier, to: specifier === undefined ? '' : resolveFrom(name, specifier), type_only });
  };
  for (const match of code.matchAll(/\b(?:import|export)\s+(type\s+)?((?:[\w$*]|\{[^{}]*\}|,|\s)+?)\sfrom\s*§(\d+)§/g)) {
    add(match[3], match[1] !== undefined || onlyTypes(match[2] ?? ''));
  }
  for (const match of code.matchAll(/\bimport\s*§(\d+)§/g)) add(match[1], false);
  for (const match of code.matchAll(/\bimport\s*\(\s*(?:§(\d+)§)?/g)) add(match[1], false);
  return { name, lines: text.split('\n').length - 1, code, edges };
}

function onlyTypes(clause: string): boolean {
  const names = /^\{([^{}]*)\}$/.exec(clause.trim())?.[1];
  if (names === undefined) return false;
  return names
    .split(',')
    .filter((item) => item.trim() !== '')
    .every((item) => item.trim().startsWith('type '));
}

function resolveFrom(file: string, specifier: string): string {
  return specifier.startsWith('.') ? join(dirname(file), specifier).replace(/\.js$/, '.ts') : specifier;
}

/** Takes out comments, strings, templates and regular expressions, so that what is left is code. */
export function stripSource(text: string): { readonly code: string; readonly strings: readonly string[] } {
  const strings: string[] = [];
  const depths: number[] = [];
  let code = '';
  let at = 0;
  let braces = 0;
  const keep = (value: string) => {
    code += `§${strings.push(value) - 1}§`;
  };
  const template = () => {
    const start = at;
    while (at < text.length && text[at] !== '`' && !text.startsWith('${', at)) at += text[at] === '\\' ? 2 : 1;
    keep(text.slice(start, at));
    if (text.startsWith('${', at)) {
      depths.push(braces);
      at += 2;
      code += ' ';
    } else at += 1;
  };
  while (at < text.length) {
    const char = text[at] ?? '';
    if (text.startsWith('//', at)) at = endOr(text.indexOf('\n', at), text.length);
    else if (text.startsWith('/*', at)) at = endOr(text.indexOf('*/', at) + 1, text.length) + 1;
    else if (char === "'" || char === '"') {
      const start = at + 1;
      at = start;
      while (at < text.length && text[at] !== char) at += text[at] === '\\' ? 2 : 1;
      keep(text.slice(start, at));
      at += 1;
    } else if (char === '`') {
      at += 1;
      template();
    } else if (char === '}' && depths.at(-1) === braces) {
      depths.pop();
      at += 1;
      code += ' ';
      template();
    } else if (char === '/' && startsRegex(code)) {
      at = endOfRegex(text, at);
      code += '§§';
    } else {
      if (char === '{') braces += 1;
      if (char === '}') braces -= 1;
      code += char;
      at += 1;
    }
  }
  return { code, strings };
}

function endOr(found: number, fallback: number): number {
  return found <= 0 ? fallback : found;
}

/** A slash divides only behind a value. */
function startsRegex(before: string): boolean {
  const tail = before.trimEnd();
  return tail === '' || /[(,=:[!&|?{};<>+\-*/%~^]$/.test(tail) || /\b(?:return|typeof|case|in|of|await|yield)$/.test(tail);
}

function endOfRegex(text: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return at + 1;
    else if (char === '\n') return at;
  }
  return text.length;
}
