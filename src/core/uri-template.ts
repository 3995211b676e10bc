import { isPlainText, isWellFormed, utf8Length } from '../wire/text.js';
import { Substring } from './substring.js';

/** A compiled URI template. Its limits hold for expanding and matching too: nothing else can be expanded or matched. */
export interface UriTemplate {
  /** In order of appearance. */
  readonly variables: readonly string[];
  /**
   * The values with which the template makes this URI; undefined when it cannot. In time linear in the URI, without backtracking. A
   * value is never empty. Values of `{name}` are decoded; those of `{+name}` and `{#name}` are as they stand in the URI, which may be
   * more than RFC 3986 allows, but has no control character and no stray `%`. Where several values would do, those of `{name}` are short:
   * `{+path}.{kind}` takes `a.tar.gz` for `a.tar` and `gz`.
   */
  match(uri: string): Readonly<Record<string, string>> | undefined;
  /** The URI (RFC 6570 section 3.2). Throws a TypeError that names a variable without a value: that URI would never match. */
  expand(values: Readonly<Record<string, string>>): string;
}

/**
 * Compiles a template of RFC 6570 level 1 and 2: `{name}`, `{+name}` and `{#name}`; at most 1 024 bytes and 32 variables. Throws a
 * TypeError that says what is wrong. Two variables never touch and at most one is reserved (`+` or `#`): what is left of it is
 * matched from the left, what is right of it from the right, each literal at its nearest place, which is the right one if any is.
 */
export function compileTemplate(template: string): UriTemplate {
  const { literals, variables } = parse(template);
  const substrings = literals.map((literal) => new Substring(literal));
  const reserved = variables.findIndex((variable) => variable.reserved);
  const names = Object.freeze(variables.map((variable) => variable.name));
  return Object.freeze({
    variables: names,
    match: (uri: string) => {
      const spans = findSpans(uri, substrings, reserved);
      return spans === undefined ? undefined : toValues(uri, spans, variables);
    },
    expand: (values: Readonly<Record<string, string>>) =>
      literals[0] + variables.map((variable, index) => encode(variable, values) + literals[index + 1]).join(''),
  });
}

const MAX_BYTES = 1024;
const MAX_VARIABLES = 32;

interface Variable {
  readonly name: string;
  readonly reserved: boolean;
}

interface Parsed {
  /** One more than variables: before, between and after them, percent-encoded. */
  readonly literals: readonly string[];
  readonly variables: readonly Variable[];
}

function parse(template: string): Parsed {
  if (typeof template !== 'string') throw new TypeError('must be a text');
  if (template.length > MAX_BYTES || utf8Length(template) > MAX_BYTES) throw new TypeError(`is longer than ${MAX_BYTES} bytes`);
  const literals: string[] = [];
  const variables: Variable[] = [];
  let at = 0;
  for (let open = template.indexOf('{'); open >= 0; open = template.indexOf('{', at)) {
    const close = template.indexOf('}', open);
    if (close < 0) throw new TypeError('has a "{" without a "}"');
    const expression = template.slice(open + 1, close);
    const sign = expression.startsWith('+') || expression.startsWith('#') ? expression.charAt(0) : '';
    const name = expression.slice(sign.length);
    if (!NAME.test(name)) throw new TypeError(`has {${expression}}; only {name}, {+name} and {#name} are understood`);
    if (variables.some((variable) => variable.name === name)) throw new TypeError(`has the variable ${name} twice`);
    const literal = toLiteral(template.slice(at, open)) + (sign === '#' ? '#' : '');
    if (variables.length > 0 && literal === '') throw new TypeError(`has nothing between two variables before {${expression}}`);
    literals.push(literal);
    variables.push({ name, reserved: sign !== '' });
    at = close + 1;
  }
  literals.push(toLiteral(template.slice(at)));
  if (variables.length === 0) throw new TypeError('has no variable; make it a resource');
  if (variables.length > MAX_VARIABLES) throw new TypeError(`has more than ${MAX_VARIABLES} variables`);
  if (variables.filter((variable) => variable.reserved).length > 1) throw new TypeError('has more than one {+name} or {#name}');
  return { literals, variables };
}

const NAME = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/;

/** A literal as it stands in URIs (RFC 6570 sections 2.1 and 3.1). */
function toLiteral(text: string): string {
  if (text.includes('}')) throw new TypeError('has a "}" without a "{"');
  if (!isWellFormed(text)) throw new TypeError('has half a character');
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) throw new TypeError('has a "%" without two hexadecimal digits');
  for (const character of text) {
    if (character.charCodeAt(0) < 128 && !LITERAL.includes(character))
      throw new TypeError(`has ${JSON.stringify(character)}, which no URI has; percent-encode it`);
  }
  const encoded = encodeReserved(text);
  if (decode(encoded) === undefined) throw new TypeError('has percent-encoded bytes that are not UTF-8');
  return encoded;
}

/** From and to of each variable's value, flat; undefined: the literals are not there. */
function findSpans(uri: string, substrings: readonly Substring[], reserved: number): readonly number[] | undefined {
  const split = reserved < 0 ? substrings.length - 1 : reserved + 1;
  const right: number[] = [];
  let end = uri.length;
  for (let i = substrings.length - 1; i >= split; i--) {
    const substring = substrings[i] as Substring;
    const found = i === substrings.length - 1 ? substring.atEnd(uri) : substring.findLast(uri, end - 1);
    if (found < 0) return undefined;
    right.push(found + substring.length, found);
    end = found;
  }
  right.reverse().pop();
  const left: number[] = [];
  let from = 0;
  for (let i = 0; i < split; i++) {
    const substring = substrings[i] as Substring;
    const found = i === 0 ? substring.atStart(uri) : substring.findFirst(uri, from + 1, end);
    if (found < 0) return undefined;
    left.push(found, found + substring.length);
    from = found + substring.length;
  }
  left.shift();
  return [...left, ...right];
}

function toValues(uri: string, spans: readonly number[], variables: readonly Variable[]): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [index, { name, reserved }] of variables.entries()) {
    const raw = uri.slice(spans[2 * index], Math.max(spans[2 * index] as number, spans[2 * index + 1] as number));
    const value = reserved ? raw : decodeSimple(raw);
    if (value === undefined || value === '' || !isPlainText(value) || (reserved && !isRaw(value))) return undefined;
    values[name] = value;
  }
  return values;
}

function decodeSimple(raw: string): string | undefined {
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i);
    if (code >= 128 || SIMPLE[code] === 0) return undefined;
  }
  return raw.includes('%') ? decode(raw) : raw;
}

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** True for text without control characters and without half a percent-encoded one. */
function isRaw(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f || (code === 0x25 && !(isHex(text.charCodeAt(i + 1)) && isHex(text.charCodeAt(i + 2))))) return false;
  }
  return true;
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}

function encode({ name, reserved }: Variable, values: Readonly<Record<string, string>>): string {
  const value: unknown = Object.hasOwn(values, name) ? values[name] : undefined;
  if (typeof value !== 'string' || value === '' || !isWellFormed(value))
    throw new TypeError(`the variable ${name} needs a text that is not empty`);
  return reserved
    ? encodeReserved(value)
    : encodeURIComponent(value).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Leaves reserved characters and percent-encoded ones as they are (RFC 6570 section 3.2.1). */
function encodeReserved(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu, (found) =>
    found.length === 3 && found.startsWith('%') ? found : encodeURIComponent(found),
  );
}

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const LITERAL = `${UNRESERVED}:/?#[]@!$&'()*+,;=%`;
/** What a simple value may stand as in a URI: everything else is percent-encoded (RFC 6570 section 3.2.2). */
const SIMPLE = Uint8Array.from({ length: 128 }, (_, code) => (`${UNRESERVED}%`.includes(String.fromCharCode(code)) ? 1 : 0));
