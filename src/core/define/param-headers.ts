import type { JsonSchema } from '../../contract/content.js';
import type { HeaderView } from '../../contract/head.js';
import { decodeFieldText, encodeFieldText, isToken, trimOws } from '../../wire/field.js';
import { DATA_KEYWORDS, type Report } from './check-schema.js';

/** One argument of a tool that is mirrored into a header. */
export interface ParamHeader {
  /** Lower case, with `mcp-param-`. */
  readonly header: string;
  /** Names of `properties` from the root to the argument. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/**
 * The `x-mcp-header` annotations of a tool's input schema (MCP 2026-07-28, Streamable HTTP, "Schema Extension"): on strings,
 * integers and booleans that are reached by `properties` alone, each a header token, none twice in any case.
 */
export function paramHeadersOf(schema: JsonSchema, report: Report): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  const walk = (node: unknown, path: readonly string[] | undefined): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach((item) => walk(item, undefined));
    const schema = node as Readonly<Record<string, unknown>>;
    if (Object.hasOwn(schema, KEYWORD)) take(schema, path);
    for (const [key, value] of Object.entries(schema)) {
      if (DATA_KEYWORDS.has(key)) continue;
      if (key !== 'properties' || typeof value !== 'object' || value === null) walk(value, undefined);
      else for (const [name, inner] of Object.entries(value)) walk(inner, path === undefined ? undefined : [...path, name]);
    }
  };
  const take = (schema: Readonly<Record<string, unknown>>, path: readonly string[] | undefined): void => {
    const { [KEYWORD]: name, type } = schema;
    const where = `${KEYWORD} ${JSON.stringify(name)}`;
    if (path === undefined || path.length === 0) return report(`${where} is not on a property that is reached by "properties" alone`);
    if (typeof name !== 'string' || !isToken(name)) return report(`${where} is not a header token`);
    if (type !== 'string' && type !== 'integer' && type !== 'boolean')
      return report(`${where} must be on a string, an integer or a boolean`);
    const header = `mcp-param-${name.toLowerCase()}`;
    if (found.some((other) => other.header === header)) return report(`${where} is there twice`);
    found.push({ header, path, type });
  };
  walk(schema, []);
  return found;
}

/**
 * Whether the mirrored headers say what the arguments say; undefined when they do, else why not. An argument that is absent or
 * null has no header. Integers are compared as numbers.
 */
export function checkParamHeaders(
  params: readonly ParamHeader[],
  headers: HeaderView,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const param of params) {
    const value = valueAt(args, param.path);
    const shown = `Mcp-Param-${param.header.slice('mcp-param-'.length)}`;
    const sent = headers.get(param.header);
    if (value === undefined || value === null) {
      if (sent !== undefined) return `${shown} is there, but ${param.path.join('.')} is not.`;
      continue;
    }
    if (sent === undefined) return `${shown} is missing; it mirrors ${param.path.join('.')}.`;
    const decoded = decodeFieldText(trimOws(sent));
    if (!decoded.ok) return `${shown} ${decoded.fault}.`;
    if (!isSame(decoded.value, value, param.type)) return `${shown} does not say what ${param.path.join('.')} says.`;
  }
  return undefined;
}

/** The headers that mirror these arguments, as a client writes them. A value of another type than declared is the server's to refuse. */
export function writeParamHeaders(
  params: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { header, path } of params) {
    const value = valueAt(args, path);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      headers[header] = encodeFieldText(String(value));
  }
  return headers;
}

/** In a tool's input schema: the header field that carries the parameter. */
export const KEYWORD = 'x-mcp-header';
/** RFC 9110 section 5.6.2. */
const DECIMAL = /^-?\d{1,32}(?:\.\d{1,32})?(?:[eE][+-]?\d{1,3})?$/;

function isSame(sent: string, value: unknown, type: ParamHeader['type']): boolean {
  if (typeof value === 'number' && type === 'integer') return Number.isSafeInteger(value) && DECIMAL.test(sent) && Number(sent) === value;
  return typeof value !== 'object' && sent === String(value);
}

function valueAt(args: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
