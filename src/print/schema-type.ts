import { code } from './markdown.js';
import { entryOf, type SchemaNode } from './schema-node.js';

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
