import { ConfigSchema } from '../config/schema/config.js';
import type { GateModule } from '../contract/gate.js';
import { code, defaultText, entryOf, GENERATED, page, type SchemaNode, table, typeText } from './schema-type.js';

const INTRO = `One YAML file (JSON is YAML too), at most 1 MiB. \`-c FILE\` or \`PORTCULLIS_CONFIG\` names it; the default is \`./portcullis.yaml\`.
Unknown keys are errors. \`portcullis validate\` tells everything that is wrong at once, with file, line and column, and exits 78.
\`portcullis print-config\` shows what is in force, without secrets. Every example in \`examples/\` loads.

In every text value, after parsing and never recursively: \`\${NAME}\` is an environment variable, \`\${NAME:-default}\` has a default for
unset or empty, \`\${NAME:?message}\` refuses with the message, \`\${file:/path}\` is a file (UTF-8, at most 64 KiB, one trailing newline
dropped). \`$\${\` is a literal \`\${\`. Unset, unreadable or blank refuses to start. Where a whole number or true/false is wanted, the text of a
reference is converted. In a flow mapping (\`{ … }\`) a reference must stand in quotes.

Relative file names, \`npm:\` gates and \`file:\` gates start at the folder of the config file. Nothing is ever installed.

An MCP route has exactly its path. A route whose runtime is of kind \`http\` has everything below its path too; the longest path wins.`;

/** config/REFERENCE.md: every key of the config and every option of the built-in gates. */
export function printReference(builtins: Readonly<Record<string, GateModule>>): string {
  const root = ConfigSchema as SchemaNode;
  const sections = Object.entries(root.properties ?? {})
    .filter(([key]) => key !== '$schema')
    .flatMap(([key, node]) => sectionOf(key, node, root.required?.includes(key) === true && node.default === undefined));
  const gates = Object.entries(builtins)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, module]) => page(`### ${code(name)}`, gateNote(module), keyTable(module.options as SchemaNode)).trimEnd());
  return page(
    '# Configuration reference',
    GENERATED,
    INTRO,
    ...sections,
    '## Options of the built-in gates',
    'What stands under `gates.NAME.options` when `gates.NAME.use` is one of these.',
    ...gates,
  );
}

function sectionOf(key: string, node: SchemaNode, required: boolean): readonly string[] {
  const title = [`## ${code(key)}`, `${node.description ?? ''}${required ? ' Required.' : ''}`];
  const entry = node.items ?? entryOf(node);
  if (entry?.oneOf !== undefined) {
    return [
      ...title,
      ...entry.oneOf.flatMap((kind) => [
        `### ${code(`${key}.NAME`)} of kind ${code(String(kind.properties?.kind?.const))}`,
        kind.description ?? '',
        keyTable(kind),
      ]),
    ];
  }
  return [...title, keyTable(entry ?? node)];
}

function keyTable(node: SchemaNode): string {
  return table(['key', 'type', 'default', 'meaning'], keyRows(node, ''));
}

function keyRows(node: SchemaNode, prefix: string): readonly (readonly string[])[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const name = prefix + key;
    const required = node.required?.includes(key) === true;
    const row = [code(name), typeText(child), defaultText(child, required), child.description ?? ''];
    const inner = child.items?.properties === undefined ? keyRows(child, `${name}.`) : keyRows(child.items, `${name}[].`);
    return [row, ...inner];
  });
}

function gateNote(module: GateModule): string {
  const identifies = typeof module.identifies === 'function' ? 'Its options decide whether it identifies the caller.' : undefined;
  const notes = [
    module.identifies === 'always' ? 'Identifies the caller.' : undefined,
    module.identifies === 'when_alone' ? 'Identifies the caller unless another gate of the chain does.' : undefined,
    identifies,
    module.authorizes === true ? 'Its pass admits to a route that is not public.' : undefined,
    module.provides === undefined || module.provides.length === 0 ? undefined : `Facts it finds: ${module.provides.map(code).join(', ')}.`,
    Array.isArray(module.requires) && module.requires.length > 0
      ? `Needs, from earlier gates: ${module.requires.map(code).join(', ')}.`
      : undefined,
  ];
  return notes.filter((note) => note !== undefined).join(' ') || 'Passes or refuses; it neither identifies nor admits on its own.';
}
