import { Ajv, type ErrorObject } from 'ajv';
import { explainFault } from './explain.js';
import type { Finding } from './finding.js';
import { FORMATS } from './format/formats.js';
import { type Path, toWhere } from './path.js';
import { ConfigSchema } from './schema/config.js';

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  discriminator: true,
  verbose: true,
  logger: false,
  formats: Object.fromEntries(Object.entries(FORMATS).map(([name, whyNot]) => [name, (text: string) => whyNot(text) === undefined])),
});
const check = ajv.compile(ConfigSchema);

/**
 * Checks `value` against the schema and fills the defaults in place. Texts of references become numbers and booleans where the
 * schema wants one: `port: ${PORT}`. The findings never repeat what a reference stood for.
 */
export function validate(value: unknown, referenced: ReadonlySet<string>): readonly Finding[] {
  if (check(value)) return [];
  if (convertReferenced(value, check.errors ?? [], referenced) && check(value)) return [];
  return (check.errors ?? []).flatMap((fault) => explainFault(fault, pathOf(fault, value)));
}

function convertReferenced(root: unknown, faults: readonly ErrorObject[], referenced: ReadonlySet<string>): boolean {
  let converted = false;
  for (const fault of faults) {
    if (fault.keyword !== 'type' || typeof fault.data !== 'string') continue;
    const path = pathOf(fault, root);
    const value = convert(fault.data, fault.params.type);
    if (value === undefined || !referenced.has(toWhere(path))) continue;
    let parent = root as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) parent = parent[step] as Record<string | number, unknown>;
    parent[path.at(-1) ?? ''] = value;
    converted = true;
  }
  return converted;
}

function convert(text: string, type: unknown): number | boolean | undefined {
  if (type === 'integer' && /^(0|-?[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return undefined;
}

/** A JSON pointer as a path; steps into lists become numbers. */
function pathOf(fault: ErrorObject, root: unknown): Path {
  const path: (string | number)[] = [];
  let node: unknown = root;
  for (const raw of fault.instancePath.split('/').slice(1)) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    const step = Array.isArray(node) ? Number(key) : key;
    path.push(step);
    node = (node as Record<string | number, unknown> | undefined)?.[step];
  }
  return path;
}
