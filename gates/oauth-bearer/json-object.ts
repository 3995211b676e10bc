export type JsonObject = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 32;

/**
 * A JSON object that no two parsers read differently: UTF-8, at most 32 levels, no name twice in one object at any level
 * (RFC 7519 section 4 leaves repeated claim names to the reader). Undefined if it is anything else.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = strict.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && isUnambiguous(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An issuer’s whole document: as `parseJsonObject`, and a byte order mark before it is ignored (RFC 8259 section 8.1). */
export function parseDocument(bytes: Uint8Array): JsonObject | undefined {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return parseJsonObject(marked ? bytes.subarray(3) : bytes);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `text` is known to be JSON; this walk only finds names, levels and their ends. */
function isUnambiguous(text: string): boolean {
  const levels: (Set<string> | undefined)[] = [];
  let index = 0;
  while (index < text.length) {
    const char = text[index];
    if (char === '{' || char === '[') {
      if (levels.push(char === '{' ? new Set() : undefined) > MAX_DEPTH) return false;
    } else if (char === '}' || char === ']') {
      levels.pop();
    } else if (char === '"') {
      const end = endOfString(text, index);
      const names = levels.at(-1);
      if (names !== undefined && isName(text, end)) {
        const name = JSON.parse(text.slice(index, end)) as string;
        if (names.has(name)) return false;
        names.add(name);
      }
      index = end - 1;
    }
    index += 1;
  }
  return true;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}

function isName(text: string, end: number): boolean {
  let index = end;
  while (text[index] === ' ' || text[index] === '\n' || text[index] === '\r' || text[index] === '\t') index += 1;
  return text[index] === ':';
}
