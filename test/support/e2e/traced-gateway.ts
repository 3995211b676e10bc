import { repositoryPath } from '../repository.js';

const KEY_SHA256 = '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683'; // of "key"

/** The config of a gateway that traces to `endpoint`, with a route of each kind; `more` are further keys of `telemetry.tracing`. */
export const tracedConfig = (upstream_url: string, endpoint: string, more = ''): string => `
listener: { port: 0, limits: { drain_delay_ms: 0 } }
ops: { port: 0 }
gates: { key: { use: api-key, options: { keys: [{ name: probe, sha256: "${KEY_SHA256}" }] } } }
runtimes:
  server: { kind: proxied, url: "${upstream_url}/mcp" }
  web: { kind: http, url: "${upstream_url}" }
  child: { kind: stdio, command: ${process.execPath}, args: [${repositoryPath('dist/test/support/stdio/server.js')}, modern] }
routes:
  - { path: /mcp, public: true, runtime: server }
  - { path: /guarded/mcp, gates: [key], runtime: server }
  - { path: /web, public: true, runtime: web }
  - { path: /child/mcp, public: true, runtime: child }
telemetry:
  log: { access: true }
  audit: { file: "-" }
  tracing: { endpoint: "${endpoint}", headers: { x-api-key: "\${COLLECTOR_KEY:-none}" }, interval_ms: 100, timeout_ms: 1000${more} }
`;

/** Picks the spans of one request by its `X-Request-Id`. */
export const ofRequest =
  (id: string | string[] | undefined) =>
  (span: { readonly attributes: Readonly<Record<string, unknown>> }): boolean =>
    span.attributes['portcullis.request_id'] === id;
