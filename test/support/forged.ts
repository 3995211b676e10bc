/** A sealed or signed text with another character in fourth place from its end: it is as long, and never the same. */
export function forged(text: string): string {
  const at = text.length - 4;
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}
