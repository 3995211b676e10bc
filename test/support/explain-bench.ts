import { createHash } from 'node:crypto';
import { resolveConfig } from '../../src/config/load.js';
import { type DemoIssuer, startDemoIssuer } from '../../src/demo/issuer.js';
import { type Explanation, explain } from '../../src/explain/explain.js';
import type { Question } from '../../src/explain/question.js';
import { systemClock } from '../../src/system-clock.js';
import { folderWith } from './config-files.js';

export const KEY = 'the-key-of-the-probe';
export const PUBLIC = 'http://127.0.0.1:8080';

export type Parts = Readonly<Record<string, unknown>>;

export interface ExplainBench {
  readonly issuer: DemoIssuer;
  readonly files: ReturnType<typeof folderWith>;
  /** The config of the bench, with these keys instead of its own. */
  readonly config: (parts?: Parts) => Parts;
  /** What `explain` says to the question about that config. */
  readonly ask: (question: Question, parts?: Parts) => Promise<Explanation>;
  readonly close: () => Promise<void>;
}

/** A token issuer, and a config with gates that pass, refuse, are late, fail and serve; further files lie beside it. */
export async function openExplainBench(more: Readonly<Record<string, string>> = {}): Promise<ExplainBench> {
  const issuer = await startDemoIssuer({ host: '127.0.0.1', port: 0, audience: `${PUBLIC}/mcp`, scopes: ['mcp.read'] });
  const files = folderWith({
    ...more,
    'late.mjs': module('late', '{ decide: () => new Promise(() => undefined) }'),
    'broken.mjs': module('broken', "{ decide: () => { throw new Error('no') } }"),
    'page.mjs': module('page', "{ serves: ['/page'], decide: () => ({ kind: 'serve', status: 200, body: 'hello' }) }", 'authorizes: true,'),
  });
  const config = (parts: Parts = {}): Parts => ({
    listener: { public_url: PUBLIC, gates: ['edge'], trusted_proxies: ['10.0.0.1'] },
    ops: { enabled: false },
    gates: {
      edge: { use: 'ip-allow', options: { allow: ['127.0.0.0/8', '192.0.2.0/24'] } },
      token: { use: 'oauth-bearer', options: { issuer: issuer.issuer, required_scopes: ['mcp.read'] } },
      key: { use: 'api-key', options: { keys: [{ name: 'probe', sha256: createHash('sha256').update(KEY).digest('hex') }] } },
      reads: { use: 'method-allow', options: { tools: ['read_*'] } },
      late: { use: 'file:./late.mjs', timeout_ms: 100 },
      broken: { use: 'file:./broken.mjs' },
      page: { use: 'file:./page.mjs' },
    },
    runtimes: { server: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' }, ui: { kind: 'http', url: 'http://127.0.0.1:1' } },
    routes: [
      { path: '/mcp', gates: ['token', 'reads'], runtime: 'server' },
      { path: '/keyed/mcp', gates: ['key', 'reads'], runtime: 'server' },
      { path: '/late/mcp', gates: ['key', 'late'], runtime: 'server' },
      { path: '/broken/mcp', gates: ['key', 'broken'], runtime: 'server' },
      { path: '/paged/mcp', gates: ['page'], runtime: 'server' },
      { path: '/', gates: ['key'], runtime: 'ui' },
      { path: '/ui', public: true, runtime: 'ui' },
    ],
    ...parts,
  });
  return {
    issuer,
    files,
    config,
    ask: (question, parts = {}) => explain(resolveConfig(config(parts), { folder: files.folder }), question, systemClock),
    async close() {
      await issuer.close();
      files.remove();
    },
  };
}

const module = (name: string, gate: string, more = ''): string =>
  `export const gate = { name: '${name}', contract: 1, options: { type: 'object', properties: {} }, ${more} open: () => (${gate}) };\n`;

/** The steps as `by verdict code`, and the end. */
export const told = ({ steps, outcome, status, code }: Explanation): readonly string[] => [
  ...steps.map(({ by, verdict, code: said }) => `${by} ${verdict}${said === '' ? '' : ` ${said}`}`),
  `${outcome} ${status}${code === '' ? '' : ` ${code}`}`,
];
