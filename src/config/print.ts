import { stringify } from 'yaml';
import { shownUrl } from './format/formats.js';
import type { LoadedConfig } from './load.js';
import { type Path, toWhere } from './path.js';
import { ConfigSchema } from './schema/config.js';
import { isSecret, shownArgument } from './secret-key.js';

const HIDDEN = '***';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly oneOf?: readonly Node[];
  readonly const?: unknown;
}

/**
 * The config that is in force, as YAML in the schema's order: defaults filled, and `***` for every value that came from a
 * reference and every text whose key says that it is a secret, `?…` for the query of an upstream's URL.
 */
export function printConfig(loaded: Pick<LoadedConfig, 'config' | 'referenced'>): string {
  return stringify(shownConfig(loaded), { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The same as a JSON value. */
export function shownConfig({ config, referenced }: Pick<LoadedConfig, 'config' | 'referenced'>): object {
  return shown(config, [], ConfigSchema as Node, referenced) as object;
}

/** The query of an upstream's URL may hold its key. */
function shownText(text: string, path: Path): string {
  return path[0] === 'runtimes' && path.at(-1) === 'url' ? shownUrl(text) : text;
}

function shown(value: unknown, path: Path, schema: Node | undefined, referenced: ReadonlySet<string>): unknown {
  if (referenced.has(toWhere(path)) || isSecret(path, value)) return HIDDEN;
  if (typeof value === 'string') return shownText(value.replace(/:\/\/[^/@]*@/g, `://${HIDDEN}@`), path);
  if (Array.isArray(value)) {
    const command_line = path[0] === 'runtimes' && path.at(-1) === 'args';
    const items: readonly unknown[] = command_line ? value.map((_, index) => shownArgument(value, index, HIDDEN)) : value;
    return items.map((item, index) => shown(item, [...path, index], schema?.items, referenced));
  }
  if (typeof value !== 'object' || value === null) return value;
  const known = schema?.oneOf?.find((kind) => kind.properties?.kind?.const === (value as { readonly kind?: unknown }).kind) ?? schema;
  const every = Object.values(known?.patternProperties ?? {})[0];
  const keys = new Set([...Object.keys(known?.properties ?? {}).filter((key) => Object.hasOwn(value, key)), ...Object.keys(value)]);
  const inner = (key: string) =>
    shown((value as Record<string, unknown>)[key], [...path, key], known?.properties?.[key] ?? every, referenced);
  return Object.fromEntries([...keys].map((key) => [key, inner(key)]));
}
