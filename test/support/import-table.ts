import type { Edge } from './source-scan.js';

const EVERYTHING = [
  'assembly',
  'cli',
  'client',
  'config',
  'contract',
  'core',
  'demo',
  'dialect',
  'doctor',
  'errors',
  'executor',
  'explain',
  'gate-chain',
  'gates',
  'listener',
  'modules',
  'mount',
  'page',
  'route',
  'runtime',
  'status',
  'telemetry',
  'tracing',
  'transport',
  'upstream',
  'wire',
  'src',
];

/** How a field value is read is one thing for all that read one. */
const FIELD = 'src/wire/field.ts';

/** The law: what each folder may import. What is not here may not be there. */
export const TABLE: Readonly<Record<string, Row>> = {
  contract: { ours: ['errors'], only: { typebox: 'src/contract/options.ts', 'node:http': 'src/contract/runtime.ts' } },
  errors: { ours: ['contract'], modules: ['fastest-levenshtein'] },
  wire: { ours: ['errors', 'contract'] },
  dialect: { ours: ['wire', 'errors', 'contract'] },
  executor: { ours: ['errors', 'contract'] },
  core: { ours: ['dialect', 'wire', 'executor', 'errors', 'contract'], modules: ['ajv/dist/2020.js', 'node:crypto'] },
  runtime: {
    ours: ['core', 'transport', 'upstream', 'wire', 'dialect', 'executor', 'errors', 'contract'],
    modules: ['lru-cache', 'node:crypto', 'node:stream'],
    only: {
      undici: 'src/runtime/http/',
      'node:tls': 'src/runtime/http/',
      fastify: 'src/runtime/http/',
      '@fastify/http-proxy': 'src/runtime/http/',
      'node:http': 'src/runtime/http/',
      'node:fs': 'src/runtime/peer/stdio-memory.ts',
    },
  },
  upstream: { ours: ['errors', 'contract'], modules: ['node:events', 'node:net', 'node:tls'], files: [FIELD] },
  route: { ours: ['errors', 'contract', 'core'] },
  mount: {
    ours: ['core', 'wire', 'dialect', 'executor', 'errors', 'contract'],
    modules: ['node:crypto'],
    only: { fastify: 'src/mount/fastify', 'node:http': 'src/mount/node' },
    files: ['src/system-clock.ts', 'src/silent-log.ts'],
  },
  transport: {
    ours: ['core', 'wire', 'dialect', 'executor', 'errors', 'contract'],
    modules: ['undici', 'node:crypto', 'node:stream', 'node:tls'],
    only: { 'node:child_process': 'src/transport/stdio-child' },
    files: ['src/system-clock.ts', 'src/silent-log.ts', 'src/system-process.ts'],
  },
  client: {
    ours: ['transport', 'core', 'wire', 'dialect', 'errors', 'contract'],
    files: ['src/system-clock.ts', 'src/silent-log.ts', 'src/version.ts'],
  },
  'gate-chain': {
    ours: ['modules', 'errors', 'contract'],
    files: [FIELD],
  },
  modules: {
    ours: ['config', 'core', 'runtime', 'transport', 'errors', 'contract'],
    modules: ['ajv/dist/2020.js', 'node:crypto', 'node:fs', 'node:module', 'node:path', 'node:url'],
  },
  status: {
    ours: ['assembly', 'config', 'contract', 'errors', 'gate-chain', 'gates', 'listener', 'modules', 'route', 'runtime', 'telemetry'],
    modules: ['node:crypto', 'node:path'],
  },
  listener: {
    ours: ['gate-chain', 'route', 'core', 'wire', 'errors', 'contract'],
    modules: ['fastify', 'node:http', 'node:https', 'node:net', 'node:tls', 'node:crypto', 'node:stream'],
  },
  telemetry: {
    ours: ['contract'],
    files: [FIELD],
    modules: [
      'prom-client',
      'pino',
      'node:crypto',
      'node:fs/promises',
      'node:perf_hooks',
      'node:stream',
      'node:timers/promises',
      'node:v8',
    ],
  },
  tracing: {
    ours: ['telemetry', 'contract'],
    files: [FIELD],
    modules: ['@opentelemetry/api', '@opentelemetry/resources', '@opentelemetry/sdk-trace', 'undici', 'node:crypto'],
  },
  config: {
    ours: ['contract', 'errors'],
    modules: ['typebox', 'ajv', 'yaml', 'node:crypto', 'node:fs', 'node:net', 'node:path'],
    files: [FIELD],
  },
  testing: { ours: ['contract', 'errors', 'gate-chain', 'modules'] },
  demo: { ours: ['contract'], modules: ['jose', 'node:crypto', 'node:http', 'node:net'], files: ['src/server.ts', 'src/system-clock.ts'] },
  print: { ours: ['config', 'contract', 'errors', 'telemetry', 'gates'] },
  assembly: {
    ours: [
      'config',
      'contract',
      'core',
      'errors',
      'executor',
      'gate-chain',
      'gates',
      'listener',
      'modules',
      'route',
      'runtime',
      'status',
      'telemetry',
      'tracing',
      'transport',
      'upstream',
    ],
    modules: ['node:crypto', 'node:fs', 'node:net', 'node:path', 'node:stream', 'node:url'],
  },
  explain: {
    ours: ['assembly', 'config', 'contract', 'core', 'dialect', 'errors', 'gate-chain', 'gates', 'listener', 'route', 'src'],
    modules: ['node:crypto'],
  },
  doctor: {
    ours: ['assembly', 'config', 'contract', 'errors', 'explain', 'gates', 'src', 'status', 'upstream'],
    modules: ['undici', 'node:crypto', 'node:fs', 'node:net', 'node:path'],
  },
  cli: {
    ours: EVERYTHING,
    modules: ['commander', 'yaml', 'node:crypto', 'node:fs', 'node:path', 'node:readline', 'node:stream', 'node:url'],
  },
  page: {
    ours: ['assembly', 'config', 'contract', 'errors', 'explain', 'listener', 'status'],
    files: [FIELD, 'src/core/http/check-head.ts'],
    modules: ['fastify', 'yaml', 'node:crypto', 'node:http', 'node:net'],
  },
  src: { ours: [...EVERYTHING, 'testing'], modules: ['node:fs', 'node:path', 'node:perf_hooks', 'node:stream', 'node:url'] },
  gates: {
    ours: [],
    modules: ['portcullis/gate', 'jose', 'undici', 'ipaddr.js', 'lru-cache', 'node:crypto', 'node:fs/promises', 'node:net', 'node:path'],
  },
};

/** Only these import what a config names. */
export const LOADERS: readonly string[] = ['src/modules/load-module.ts', 'src/modules/sdk-server.ts'];

/** Whether the table has this import; one whose specifier is not known as text is for the loaders. */
export function isAllowed(edge: Edge): boolean {
  const row = TABLE[folderOf(edge.from)];
  if (row === undefined) return false;
  if (edge.specifier === undefined) return LOADERS.includes(edge.from);
  if (edge.specifier.startsWith('.')) {
    const folder = folderOf(edge.to);
    return folder === folderOf(edge.from) || row.ours.includes(folder) || row.files?.includes(edge.to) === true;
  }
  return row.modules?.includes(edge.to) === true || edge.from.startsWith(row.only?.[edge.to] ?? '\0');
}

/** The row of a file: `src` is the files that lie in no folder of it. */
export function folderOf(file: string): string {
  const parts = file.split('/');
  if (parts[0] === 'gates') return 'gates';
  return parts.length === 2 ? 'src' : (parts[1] ?? '');
}

interface Row {
  /** Folders of ours that this one may import beside itself. */
  readonly ours: readonly string[];
  /** Packages and node: modules. */
  readonly modules?: readonly string[];
  /** Single files of ours beside the folders. */
  readonly files?: readonly string[];
  /** Modules that only files whose path begins so may import. */
  readonly only?: Readonly<Record<string, string>>;
}
