// The second half of docs/semver.md: every name that semantic versioning protects, collected from the code.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtins } from '../dist/gates/index.js';
import { EXIT } from '../dist/src/cli/exit.js';
import { buildProgram } from '../dist/src/cli/program.js';
import { ConfigSchema } from '../dist/src/config/schema/config.js';
import { CODES } from '../dist/src/errors/codes.js';
import { defaultText, entryOf, typeText } from '../dist/src/print/schema-type.js';
import { createAudit } from '../dist/src/telemetry/audit.js';
import { createLog } from '../dist/src/telemetry/log.js';
import { exportedName, METRICS } from '../dist/src/telemetry/names.js';
import { createRefusalLog } from '../dist/src/telemetry/repeat-limit.js';

const MARK = '<!-- What follows is written by `npm run print` from the code; a test compares it. -->';
/** What others implement, by the file of its declaration: a new required member breaks them. */
const CONTRACTS = {
  gate: ['GateModule', 'RequestGate', 'GateHost', 'GateContext', 'RouteInfo'],
  transport: ['TransportModule', 'Transport', 'TransportHost', 'TransportOptions', 'SendOptions', 'TransportFault'],
};
/** Where the number of each contract is checked. */
const LOADERS = { gate: 'src/modules/find-module.ts', transport: 'src/modules/find-transport.ts' };

const read = (name) => readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8');

/** docs/semver.md: its hand-written first half as it is, and the lists made anew. Rejects when an export cannot be found in the source. */
export async function semverPage() {
  const parts = [
    section('Exports', exportLists()),
    section('Contracts', contractLists()),
    section('Commands', commandLines()),
    section(
      'Exit codes',
      Object.entries(EXIT).map(([name, code]) => `${code} ${name}`),
    ),
    section('Config keys', [...configKeys(ConfigSchema, ''), ...gateKeys()]),
    section('Error codes', errorCodes()),
    section(
      'Metrics',
      Object.entries(METRICS).map(([name, row]) => `${exportedName(name)} ${row.type} {${row.labels.join(', ')}}`),
    ),
    section('Log fields', refusalFields()),
    section('Audit fields', await auditFields()),
  ];
  const [byHand] = read('docs/semver.md').split(MARK);
  return `${byHand}${MARK}\n\n${parts.join('\n')}`;
}

function section(title, lines) {
  return `### ${title}\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
}

function exportLists() {
  const { exports } = JSON.parse(read('package.json'));
  return Object.entries(exports).flatMap(([entry, { types }]) => {
    const name = `portcullis${entry.slice(1)}`;
    if (types === undefined) return [name];
    const rows = exportsOf(types.replace('./dist/', '').replace('.d.ts', '.ts'));
    return [name, ...rows.map((row) => `  ${row}`)];
  });
}

/** `name`; of an interface or a class its members, as an option is a member; of a union of words those. */
function exportsOf(file) {
  return [...declarations(file)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, from]) => {
      const members = from === undefined ? [] : [...membersOf(from, name), ...wordsOf(from, name)];
      return members.length === 0 ? name : `${name}: ${members.join(', ')}`;
    });
}

/** The exported names of a file with the file that declares each; undefined where that is a package of others. */
function declarations(file) {
  const source = read(file);
  const found = new Map();
  for (const [, name] of source.matchAll(/^export (?:async |abstract )?(?:interface|type|class|function|const) (\w+)/gm))
    found.set(name, file);
  for (const [, names, from] of source.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)) {
    const inner = from.startsWith('.') ? declarations(join(dirname(file), from.replace(/\.js$/, '.ts'))) : undefined;
    for (const item of names.split(',').map((text) => text.trim().replace(/^type /, ''))) {
      if (item === '') continue;
      const [theirs, ours = theirs] = item.split(' as ');
      if (inner !== undefined && !inner.has(theirs)) throw new Error(`${file}: ${theirs} is not exported by ${from}`);
      found.set(ours, inner?.get(theirs));
    }
  }
  return found;
}

/** Its own members and those of what it extends. */
function membersOf(file, name) {
  const source = read(file);
  const found = new RegExp(`^(?:export )?(?:interface|class) ${name}\\b([^\\n]*)\\{\\n(.*?)^\\}`, 'ms').exec(source);
  if (found === null) return [];
  const [, head, body] = found;
  const own = [...body.matchAll(/^ {2}(?:readonly |override |static |async |get )*(\w+\??)(?=[(:<?])/gm)].map(([, member]) => member);
  const parents = / extends (.*)/.exec(head)?.[1] ?? '';
  const inherited = [...parents.matchAll(/(Partial<)?(\w+)/g)].flatMap(([, partial, parent]) => {
    const members = membersOf(homeOf(source, file, parent), parent);
    return partial === undefined ? members : members.map((member) => `${member.replace('?', '')}?`);
  });
  return [...new Set([...own, ...inherited])].filter((member) => member !== 'constructor').sort();
}

/** The values of a type that is nothing but literals. */
function wordsOf(file, name) {
  const body = new RegExp(`^export type ${name} =(.*?);\n`, 'ms').exec(read(file))?.[1]?.replaceAll(/\/\*\*.*?\*\//gs, '');
  const words =
    body
      ?.split('|')
      .map((word) => word.trim())
      .filter((word) => word !== '') ?? [];
  return words.every((word) => /^(?:'[^']*'|\d+)$/.test(word)) ? words : [];
}

function homeOf(source, file, name) {
  const from = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']+)\\.js'`).exec(source)?.[1];
  return from === undefined ? file : join(dirname(file), `${from}.ts`);
}

function contractLists() {
  return Object.entries(CONTRACTS).flatMap(([contract, names]) => {
    const [, number] = /^(?:export )?const CONTRACT = (\d+);/m.exec(read(LOADERS[contract]));
    return [`${contract} ${number}`, ...names.map((name) => `  ${name}: ${membersOf(`src/contract/${contract}.ts`, name).join(', ')}`)];
  });
}

function commandLines() {
  const quiet = { stdout: () => undefined, stderr: () => undefined };
  const lines = (command, path) => {
    const flags = command.options.map(({ long, short }) => long ?? short).sort();
    return [[path, ...flags].join(' '), ...command.commands.flatMap((inner) => lines(inner, `${path} ${inner.name()}`))];
  };
  return lines(buildProgram(quiet), 'portcullis');
}

function gateKeys() {
  return Object.entries(builtins)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, module]) => configKeys(module.options, `gates.NAME.options (${name})`));
}

/** Every key with its type, and its default where it has one. */
function configKeys(node, path) {
  const variants = node.oneOf ?? node.anyOf?.filter((one) => one.properties !== undefined);
  if (variants !== undefined && node.properties === undefined) {
    return [
      ...new Set(
        variants.flatMap((one) =>
          configKeys(one, one.properties?.kind?.const === undefined ? path : `${path} (${one.properties.kind.const})`),
        ),
      ),
    ];
  }
  const own = Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const fallback = defaultText(child, node.required?.includes(key) === true && child.default === undefined).replaceAll('`', '');
    return [`${here}: ${typeText(child).replaceAll('`', '')}${fallback === '' ? '' : ` = ${fallback}`}`, ...configKeys(child, here)];
  });
  const entry = node.properties === undefined ? (node.items ?? entryOf(node)) : undefined;
  return [...own, ...(entry === undefined ? [] : configKeys(entry, node.items === undefined ? `${path}.NAME` : `${path}[]`))];
}

function errorCodes() {
  const rows = (codes) => Object.entries(codes).map(([code, { status, rpc }]) => `${code} ${status}${rpc === undefined ? '' : ` ${rpc}`}`);
  const gates = Object.entries(builtins)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, module]) => rows(module.codes ?? {}).map((row) => `${row} (${name})`));
  return [...rows(CODES), ...gates];
}

/** The keys of the line of a refused request, all of them there. */
function refusalFields() {
  let now = 0;
  const clock = { now_ms: () => now, mono_ms: () => now };
  const lines = [];
  const refuse = createRefusalLog(createLog({ level: 'info', format: 'json', write: (line) => lines.push(line), clock }), clock);
  const refused = Object.fromEntries(membersOf('src/contract/log.ts', 'RefusedRequest').map((member) => [member.replace('?', ''), 'x']));
  for (let count = 0; count < 11; count += 1) refuse(refused);
  now = 60_000;
  refuse(refused);
  return Object.keys(JSON.parse(lines.at(-1)));
}

async function auditFields() {
  const lines = [];
  const identity = { issuer: 'x', principal: 'x' };
  const event = new Proxy({}, { get: (_target, key) => (key === 'identity' ? identity : 'x') });
  const timer = () => ({ cancel() {} });
  const audit = createAudit({
    sink: { write: async (text) => void lines.push(text), close: async () => undefined },
    clock: { now_ms: () => 0, mono_ms: () => 0, timer },
    principal: 'as_is',
    admissions: true,
    dropped: { add() {} },
    failed() {},
  });
  audit.decided(event);
  await audit.close(1_000);
  return Object.keys(JSON.parse(lines[0]));
}
