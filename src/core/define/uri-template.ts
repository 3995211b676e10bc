import { isPlainText, utf8Length } from '../../wire/text.js';

/** A compiled URI template. */
export interface UriTemplate {
  readonly variables: readonly string[];
  /** The variables of a URI that the template makes; undefined when it makes none such. In time linear in the URI. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}

/**
 * Compiles a template of RFC 6570 level 1 and 2: `{name}`, `{+name}` and `{#name}`. Throws a TypeError that says what is wrong.
 * Two variables never touch and at most one is reserved (`+` or `#`), so that no match has to be undone: what is left of the
 * reserved variable is matched from the left, what is right of it from the right, each literal at its nearest place.
 */
export function compileTemplate(template: string): UriTemplate {
  const { literals, variables } = parse(template);
  const reserved = variables.findIndex((variable) => variable.reserved);
  const names = variables.map((variable) => variable.name);
  const match = (uri: string) => {
    const values = reserved < 0 ? matchSimple(uri, literals) : matchReserved(uri, literals, reserved);
    return values === undefined ? undefined : toVariables(values, variables);
  };
  return { variables: names, match };
}

const MAX_BYTES = 1024;
const MAX_VARIABLES = 32;
const NAME = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/;
/** What simple expansion leaves as it is or percent-encodes: everything but reserved characters (RFC 6570 section 3.2.2). */
const SIMPLE = Uint8Array.from({ length: 128 }, (_, code) => (/[A-Za-z0-9\-._~%]/.test(String.fromCharCode(code)) ? 1 : 0));

interface Variable {
  readonly name: string;
  readonly reserved: boolean;
}

interface Parsed {
  /** One more than variables: before, between and after them. */
  readonly literals: readonly string[];
  readonly variables: readonly Variable[];
}

function parse(template: string): Parsed {
  if (utf8Length(template) > MAX_BYTES) throw new TypeError(`is longer than ${MAX_BYTES} bytes`);
  const literals: string[] = [];
  const variables: Variable[] = [];
  let at = 0;
  let literal = '';
  for (;;) {
    const open = template.indexOf('{', at);
    literal += template.slice(at, open < 0 ? template.length : open);
    if (literal.includes('}')) throw new TypeError('has a "}" without a "{"');
    if (open < 0) break;
    const close = template.indexOf('}', open);
    if (close < 0) throw new TypeError('has a "{" without a "}"');
    const expression = template.slice(open + 1, close);
    const operator = /^[+#]/.test(expression) ? expression.charAt(0) : '';
    const name = expression.slice(operator.length);
    if (!NAME.test(name)) throw new TypeError(`has {${expression}}; only {name}, {+name} and {#name} are understood`);
    if (variables.some((variable) => variable.name === name)) throw new TypeError(`has the variable ${name} twice`);
    if (operator === '#') literal += '#';
    if (variables.length > 0 && literal === '') throw new TypeError(`has nothing between two variables before {${expression}}`);
    literals.push(literal);
    variables.push({ name, reserved: operator !== '' });
    literal = '';
    at = close + 1;
  }
  if (variables.length === 0) throw new TypeError('has no variable; make it a resource');
  if (variables.length > MAX_VARIABLES) throw new TypeError(`has more than ${MAX_VARIABLES} variables`);
  if (variables.filter((variable) => variable.reserved).length > 1) throw new TypeError('has more than one {+name} or {#name}');
  return { literals: [...literals, literal], variables };
}

/** From and to of each variable's value, flat. */
type Spans = { readonly uri: string; readonly at: readonly number[] };

function matchSimple(uri: string, literals: readonly string[]): Spans | undefined {
  const last = literals[literals.length - 1]!;
  const end = uri.length - last.length;
  if (end < 0 || !uri.endsWith(last)) return undefined;
  const at = fromLeft(uri, literals.slice(0, -1), end);
  return at === undefined ? undefined : { uri, at: [...at, end] };
}

function matchReserved(uri: string, literals: readonly string[], reserved: number): Spans | undefined {
  const left = fromLeft(uri, literals.slice(0, reserved + 1), uri.length);
  const right = fromRight(uri, literals.slice(reserved + 1));
  if (left === undefined || right === undefined) return undefined;
  return { uri, at: [...left, ...right] };
}

/** Starts of values and ends of all but the last, each literal after its value at the first place that leaves the value a character. */
function fromLeft(uri: string, literals: readonly string[], end: number): readonly number[] | undefined {
  if (!uri.startsWith(literals[0]!)) return undefined;
  const at = [literals[0]!.length];
  for (const literal of literals.slice(1)) {
    const found = uri.indexOf(literal, at[at.length - 1]! + 1);
    if (found < 0 || found + literal.length > end) return undefined;
    at.push(found, found + literal.length);
  }
  return at;
}

/** The same from the end: the end of the first value, then start and end of each further one. */
function fromRight(uri: string, literals: readonly string[]): readonly number[] | undefined {
  const last = literals[literals.length - 1]!;
  if (!uri.endsWith(last)) return undefined;
  const at = [uri.length - last.length];
  for (const literal of literals.slice(0, -1).reverse()) {
    const found = at[0]! - 1 - literal.length < 0 ? -1 : uri.lastIndexOf(literal, at[0]! - 1 - literal.length);
    if (found < 0) return undefined;
    at.unshift(found, found + literal.length);
  }
  return at;
}

function toVariables({ uri, at }: Spans, variables: readonly Variable[]): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [index, { name, reserved }] of variables.entries()) {
    const from = at[2 * index]!;
    const to = at[2 * index + 1]!;
    if (to <= from) return undefined;
    const raw = uri.slice(from, to);
    const value = reserved ? raw : decodeSimple(raw);
    if (value === undefined || !isPlainText(value)) return undefined;
    values[name] = value;
  }
  return values;
}

function decodeSimple(raw: string): string | undefined {
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i);
    if (code >= 128 || SIMPLE[code] === 0) return undefined;
  }
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}
