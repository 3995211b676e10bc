import { ConfigSchema } from './config.js';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly oneOf?: readonly Node[];
  readonly const?: string;
}

/** The sections that have a key of this name, e.g. `listener.limits` for `max_connections`; empty when none has. */
export function homesOf(key: string): readonly string[] {
  HOMES ??= collect(ConfigSchema as Node, '', new Map());
  return [...(HOMES.get(key) ?? [])];
}

let HOMES: Map<string, Set<string>> | undefined;

function collect(node: Node, where: string, homes: Map<string, Set<string>>): Map<string, Set<string>> {
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    if (where !== '') homes.set(key, (homes.get(key) ?? new Set()).add(where));
    collect(child, where === '' ? key : `${where}.${key}`, homes);
  }
  for (const child of Object.values(node.patternProperties ?? {})) collect(child, `${where}.NAME`, homes);
  if (node.items !== undefined) collect(node.items, `${where}[]`, homes);
  for (const child of node.oneOf ?? []) collect(child, `${where} of kind ${child.properties?.kind?.const}`, homes);
  return homes;
}
