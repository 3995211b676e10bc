/** A Markdown table; cells may hold anything but line breaks. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** A text as inline code; empty stays empty. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** Parts of a document with one empty line between them and a line break at the end. */
export function page(...parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

/** Says in a generated file that it is one. */
export const GENERATED = '<!-- Written by `npm run print`; a test compares it. Change the source, not this file. -->';
