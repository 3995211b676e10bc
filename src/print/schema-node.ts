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
