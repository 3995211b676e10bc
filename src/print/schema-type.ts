/** Says in a generated file that it is one. */
export const GENERATED = '<!-- Written by `npm run print`; a test compares it. Change the source, not this file. -->';

/** A schema's type in a few words: `whole number, 1 to 65535`, `list of texts`, `one of a, b`. */
export function typeText(node: SchemaNode): string {
  if (node.const !== undefined) return code(String(node.const));
  if (node.enum !== undefined) return `one of ${node.enum.map((value) => code(String(value))).join(', ')}`;
  const options = node.anyOf ?? node.oneOf;
  if (options !== undefined) return options.map(typeText).join(' or ');
  switch (node.type) {
    case 'integer':
    case 'number':
      return `${node.type === 'integer' ? 'whole number' : 'number'}${rangeText(node)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'text';
    case 'array':
      return node.items === undefined ? 'list' : `list of ${itemsText(node.items)}`;
    case 'object': {
      const entry = entryOf(node);
      return entry === undefined ? 'mapping' : `mapping of names to ${itemsText(entry)}`;
    }
    default:
      return 'any value';
  }
}

/** The default as it would be written; what a key without one means. */
export function defaultText(node: SchemaNode, required: boolean): string {
  if (node.default === undefined) return required ? 'required' : '';
  if (node.type === 'object' && node.properties !== undefined) return '';
  return code(JSON.stringify(node.default));
}

function rangeText({ minimum, maximum }: SchemaNode): string {
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined || maximum === 2_147_483_647) return `, at least ${minimum}`;
  return minimum === undefined ? `, at most ${maximum}` : `, ${minimum} to ${maximum}`;
}

function itemsText(node: SchemaNode): string {
  const text = typeText(node);
  const plural: Readonly<Record<string, string>> = { text: 'texts', mapping: 'mappings', 'any value': 'any values' };
  return plural[text] ?? text;
}

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

/** A JSON Schema as the printers read it: only what they look at. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What the values of a mapping with free keys look like; undefined when its keys are fixed. */
export function entryOf(node: SchemaNode): SchemaNode | undefined {
  const pattern = Object.values(node.patternProperties ?? {})[0];
  return pattern ?? (typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined);
}
