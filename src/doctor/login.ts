import { discover } from '../../gates/oauth-bearer/discovery.js';
import type { Endpoint } from '../../gates/oauth-bearer/endpoint.js';
import { SourceFailure } from '../../gates/oauth-bearer/endpoint.js';
import { publicUrl, routeUrl } from '../assembly/urls.js';
import type { LoadedConfig } from '../config/load.js';
import { type Check, type Finding, ok, warn } from './check.js';

/** The options of an oauth-bearer gate that decide how a client gets its token. */
interface LoginOptions {
  readonly issuer: string | readonly string[];
  readonly authorization_servers?: readonly string[];
  readonly audience?: string | readonly string[];
  readonly tool_scopes?: Readonly<Record<string, readonly string[]>>;
  readonly first_challenge?: 'required' | 'all';
}

/** Authorization server that clients are sent to → the gates whose scopes by tool its first challenge does not name. */
export type LoginServers = ReadonlyMap<string, readonly string[]>;

/** Whom the discovery documents of a config name. */
export function loginServers(loaded: LoadedConfig): LoginServers {
  const servers = new Map<string, string[]>();
  for (const [gate, options] of oauthGates(loaded)) {
    const late = Object.keys(options.tool_scopes ?? {}).length > 0 && options.first_challenge !== 'all';
    for (const server of options.authorization_servers ?? [options.issuer].flat())
      servers.set(server, [...(servers.get(server) ?? []), ...(late ? [gate] : [])]);
  }
  return servers;
}

function oauthGates({ config }: LoadedConfig): readonly (readonly [gate: string, options: LoginOptions])[] {
  return Object.entries(config.gates).flatMap(([gate, { use, options }]) =>
    use === 'oauth-bearer' ? [[gate, options as unknown as LoginOptions] as const] : [],
  );
}

/** What of an authorization server’s metadata keeps MCP clients from getting a token (MCP 2026-07-28, "Authorization"). `late`: see LoginServers. */
export async function lookAtLogin(
  check: string,
  endpoint: Endpoint,
  server: string,
  late: readonly string[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  try {
    const { metadata } = await discover(endpoint, server, signal);
    const findings: Finding[] = [];
    const methods = metadata.code_challenge_methods_supported;
    if (!Array.isArray(methods) || !methods.includes('S256'))
      findings.push(
        warn(
          check,
          'its metadata does not name S256 in code_challenge_methods_supported, and MCP clients refuse to log in then',
          'Turn on PKCE with S256 there, or have it published.',
        ),
      );
    const registers = typeof metadata.registration_endpoint === 'string';
    if (!registers && metadata.client_id_metadata_document_supported !== true)
      findings.push(
        warn(
          check,
          'it takes neither client id metadata documents nor dynamic registration, so a client cannot introduce itself',
          'Register each client there and give it its client id, or turn one of the two on.',
        ),
      );
    if (registers)
      for (const gate of late)
        findings.push(
          warn(
            check,
            `clients that register themselves may get no more scopes than their first challenge names, and that of gate ${gate} leaves out tool_scopes`,
            `Set first_challenge: all in the options of gate ${gate}.`,
          ),
        );
    return findings;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SourceFailure)) throw error;
    return [
      warn(
        check,
        `clients cannot read its metadata: ${error.message}`,
        'They need it to log in; without it give them a token by other means.',
      ),
    ];
  }
}

/** That each route’s gate admits tokens for the resource that its own discovery document names; nothing leaves this process. */
export function checkAudiences(loaded: LoadedConfig): Check {
  const gates = new Map(oauthGates(loaded));
  const base = publicUrl(loaded.config);
  const name = 'audiences';
  return {
    name,
    run() {
      const findings: Finding[] = [];
      let good = 0;
      const { routes, listener } = loaded.config;
      const places = routes.map((route) => ({ name: `route ${route.path}`, resource: routeUrl(route, base), gates: route.gates ?? [] }));
      for (const { name: place, resource, gates: names } of [...places, { name: 'listener', resource: base, gates: listener.gates }]) {
        for (const gate of names) {
          const audience = gates.get(gate)?.audience;
          if (!gates.has(gate)) continue;
          if (audience === undefined || [audience].flat().includes(resource)) good += 1;
          else
            findings.push(
              warn(
                `${place} audience`,
                `gate ${gate} publishes ${resource} as resource and does not take it as audience: it refuses the tokens of clients that ask for it (RFC 8707)`,
                `Add it to audience of gate ${gate}, unless the authorization server writes another audience whatever it is asked for.`,
              ),
            );
        }
      }
      return findings.length > 0 || good === 0 ? findings : [ok(name, 'each route takes tokens for the resource that it publishes')];
    },
  };
}
