/** Text that is HTML already: only `html` makes it. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** What may stand in a `html` template. Lists are written one after the other; `undefined` and `false` are nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[];

/**
 * A template whose values are escaped, in elements and in quoted attributes alike; only Html stays as it is. Values may not stand
 * anywhere else: not in a tag or attribute name, not in a script or style.
 */
export function html(literals: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = literals[0] as string;
  for (const [at, value] of values.entries()) text += toText(value) + (literals[at + 1] as string);
  return new Html(text);
}

function toText(value: Content): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map(toText).join('');
  return escaped(String(value));
}

/** The five characters that mean something, and what would turn the direction of the text around it. */
function escaped(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (found) => ESCAPES[found] ?? shown(found));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\n': '\n',
  '\t': '\t',
};

function shown(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
