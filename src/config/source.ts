import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair, visit } from 'yaml';
import type { ConfigProblem } from '../errors/error.js';
import type { Finding } from './finding.js';
import { fromWhere, type Path } from './path.js';
import { isSecret } from './secret-key.js';

const WINDOW = 100;
const USER_INFO = /:\/\/[^/@]*@/;
/** Of a URL: everything before its query, which may hold a key. */
const BEFORE_QUERY = /^.*?:\/\/[^?]*\?/s;

/** The text of a config file with the places of its keys and values. */
export class ConfigSource {
  readonly #name: string;
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #document: Document.Parsed;
  #secrets: readonly (readonly [number, number])[] | undefined;

  /** `name` is the file's name as the operator wrote it. */
  constructor(name: string, text: string, lines: LineCounter, document: Document.Parsed) {
    this.#name = name;
    this.#text = text;
    this.#lines = lines;
    this.#document = document;
  }

  /** The offset of a place; of the nearest thing around it when the place itself is not written in the file. */
  offsetOf(path: Path, part: Finding['part']): number {
    let node: unknown = this.#document.contents;
    let offset = rangeStart(node) ?? 0;
    for (const [depth, step] of path.entries()) {
      const last = depth === path.length - 1;
      if (isAlias(node)) node = node.resolve(this.#document);
      if (isMap(node)) {
        const pair = node.items.find((item) => keyText(item) === String(step));
        if (pair === undefined) return offset;
        offset = rangeStart(pair.key) ?? offset;
        if (last && part === 'value' && isScalar(pair.value)) return rangeStart(pair.value) ?? offset;
        node = pair.value;
      } else if (isSeq(node)) {
        const item: unknown = node.items[Number(step)];
        if (item === undefined) return offset;
        offset = rangeStart(item) ?? offset;
        node = item;
      } else return offset;
    }
    return offset;
  }

  /** File, line, column, the line's text and a caret. Texts whose key says that they are secrets and queries of URLs are starred out. */
  at(offset: number): Required<Pick<ConfigProblem, 'file' | 'line' | 'column' | 'excerpt'>> {
    const { line, col } = this.#lines.linePos(offset);
    const start = this.#lines.lineStarts[line - 1] ?? 0;
    const end = this.#text.indexOf('\n', start);
    const from = Math.max(start, offset - WINDOW);
    const text = this.#masked(from, Math.min(end === -1 ? this.#text.length : end, offset + WINDOW));
    const shown = printable(from === start ? text : `…${text.slice(1)}`);
    return { file: this.#name, line, column: col, excerpt: `  ${shown}\n  ${' '.repeat(offset - from)}^` };
  }

  #masked(from: number, to: number): string {
    this.#secrets ??= secretRanges(this.#document, this.#text);
    let text = this.#text.slice(from, to);
    for (const [start, end] of this.#secrets) {
      if (end <= from || start >= to) continue;
      const [a, b] = [Math.max(start, from) - from, Math.min(end, to) - from];
      text = text.slice(0, a) + '*'.repeat(b - a) + text.slice(b);
    }
    return text;
  }
}

/** Gives a problem file, line, column and excerpt by its `where`; unchanged when it already has a line, and without a file. */
export function locate(problem: ConfigProblem, source: ConfigSource | undefined): ConfigProblem {
  if (source === undefined || problem.line !== undefined) return problem;
  return {
    ...problem,
    ...source.at(source.offsetOf(fromWhere(problem.where), problem.message.startsWith('unknown key') ? 'key' : 'value')),
  };
}

function secretRanges(document: Document.Parsed, source: string): readonly (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || node.range == null || isPlainReference(node.value)) return;
      const [from, to] = node.range;
      const shown = BEFORE_QUERY.exec(source.slice(from, to))?.[0].length ?? 0;
      if (isSecret(pathOf(ancestors), node.value) || USER_INFO.test(String(node.value))) ranges.push([from, to]);
      else if (/:\/\/[^?]*\?/.test(String(node.value))) ranges.push([from + shown, to]);
    },
  });
  return ranges;
}

/** The keys above a node; list indexes do not matter here. */
function pathOf(ancestors: readonly (Document | Node | Pair)[]): Path {
  return ancestors.flatMap((ancestor) => ('key' in ancestor ? [keyText(ancestor as Pair)] : []));
}

/** A reference without a default shows no value, and the operator needs to see it. */
function isPlainReference(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('${') && !value.includes(':-');
}

function keyText(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

function rangeStart(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function printable(text: string): string {
  return text
    .trimEnd()
    .replace(/\t/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '?');
}
