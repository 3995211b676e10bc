import { ConfigSchema } from '../config/schema/config.js';
import type { GateModule } from '../contract/gate.js';
import type { SchemaNode } from './schema-type.js';

type Json = Record<string, unknown>;

const REFERENCE = { type: 'string', pattern: '\\$\\{' };
/** Ours alone: other validators do not know these formats and the discriminator. */
const OURS = new Set(['format', 'discriminator', 'propertyNames']);

/**
 * config/portcullis.schema.json, for editors: the loader's schema with keys that have a default left optional, with references
 * allowed wherever a text is restricted or no text is wanted, and with the options of each built-in gate by its name.
 */
export function printEditorSchema(builtins: Readonly<Record<string, GateModule>>): string {
  const schema = loosen(ConfigSchema as SchemaNode) as { properties: { gates: { patternProperties: Record<string, Json> } } };
  for (const gate of Object.values(schema.properties.gates.patternProperties)) {
    gate.allOf = Object.entries(builtins)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, module]) => ({
        if: { properties: { use: { const: name } }, required: ['use'] },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
        then: { properties: { options: loosen(module.options as SchemaNode) } },
      }));
  }
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', title: 'Portcullis configuration', ...schema }, undefined, 2)}\n`;
}

function loosen(node: SchemaNode): Json {
  const { description, default: fallback, ...rest } = node;
  const kept = { ...(description === undefined ? {} : { description }), ...(fallback === undefined ? {} : { default: fallback }) };
  const inner = Object.fromEntries(
    Object.entries(rest)
      .filter(([key]) => !OURS.has(key))
      .map(([key, value]) => [key, looseKeyword(node, key, value)]),
  );
  if (Array.isArray(inner.required) && inner.required.length === 0) delete inner.required;
  return needsReference(node) ? { ...kept, anyOf: [inner, REFERENCE] } : { ...kept, ...inner };
}

function looseKeyword(node: SchemaNode, key: string, value: unknown): unknown {
  switch (key) {
    case 'required':
      return (value as readonly string[]).filter((name) => node.properties?.[name]?.default === undefined);
    case 'properties':
    case 'patternProperties':
      return Object.fromEntries(Object.entries(value as Record<string, SchemaNode>).map(([name, child]) => [name, loosen(child)]));
    case 'oneOf':
    case 'anyOf':
    case 'allOf':
      return (value as readonly SchemaNode[]).map(loosen);
    case 'items':
    case 'additionalProperties':
      return typeof value === 'object' && value !== null ? loosen(value as SchemaNode) : value;
    default:
      return value;
  }
}

function needsReference(node: SchemaNode): boolean {
  if (node.type === 'integer' || node.type === 'number' || node.type === 'boolean' || node.enum !== undefined) return true;
  return node.type === 'string' && 'pattern' in node;
}
