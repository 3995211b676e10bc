/** Characters of a text that is compared at all; a longer one matches nothing but a bare `*`. */
const MAX_TEXT_CHARS = 4_096;

/**
 * True for texts that one of the patterns describes as a whole. Case counts; `*` is any run of characters, empty too, `/` too;
 * nothing else is special. Time is linear in text and pattern: the parts between the stars are looked for from left to right,
 * each once, and the leftmost find is always good enough.
 */
export function toGlobs(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const starred = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (text) => text.length <= MAX_TEXT_CHARS && (exact.has(text) || starred.some((parts) => matches(parts, text)));
}

/** `parts` are what stands around the stars: at least two, the first at the text's start, the last at its end. */
function matches(parts: readonly string[], text: string): boolean {
  const first = parts[0] as string;
  const last = parts[parts.length - 1] as string;
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (let i = 1; i < parts.length - 1; i += 1) {
    const part = parts[i] as string;
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
