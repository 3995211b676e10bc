/** One JSON log line as a person reads it: time of day, level, message, then `key=value` pairs. */
export function toPretty(line: string): string {
  const { level, time, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([key, value]) => `  ${shown(key)}=${shownValue(value)}`);
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${shown(String(message ?? ''))}${pairs.join('')}\n`;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return /^[\w.:/@*-]+$/.test(value) ? value : shown(JSON.stringify(value));
  if (typeof value === 'object' && value !== null && 'stack' in value) return shownStack(value as { readonly stack: unknown });
  return shown(JSON.stringify(value));
}

function shownStack({ stack }: { readonly stack: unknown }): string {
  return String(stack)
    .split('\n')
    .map((row) => shown(row))
    .join('\n    ');
}

/** What a client sent may not move the cursor, hide text or begin a line: control and format characters are written as escapes. */
function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
