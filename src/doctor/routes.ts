import { publicUrl, routeUrl } from '../assembly/urls.js';
import type { LoadedConfig } from '../config/load.js';
import { WELL_KNOWN } from '../config/rules/routes.js';
import type { RouteConfig } from '../config/schema/routes.js';
import type { Clock } from '../contract/clock.js';
import { ConfigError, placeOf } from '../errors/error.js';
import { terminatorHeaders } from '../explain/terminator.js';
import type { TunnelEgress } from '../upstream/egress.js';
import { type Check, type Finding, fail, ok, runChecks } from './check.js';
import { ChildEnds } from './child-ends.js';
import { checkEras } from './eras.js';
import { runHttpCheck } from './http-check.js';
import { type CheckedEndpoint, checkChallenge, createEmbeddedGateway, shakeHands } from './synthetic-client.js';

export interface Credentials {
  readonly token: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM of a client certificate, handed over as the terminators of the config would. */
  readonly certificate: string | undefined;
  /** The way of the gateway in this process to what is reached over the network; default: directly. */
  readonly egress?: TunnelEgress;
}

/**
 * Every route of a config as a client meets it, through a gateway in this process: the challenge, its discovery document, a handshake in
 * both eras. That gateway starts the runtimes, children and hosted servers too, and ends them.
 */
export async function checkRoutes(
  loaded: LoadedConfig,
  credentials: Credentials,
  clock: Clock,
  timeout_ms: number,
  stop: AbortSignal,
): Promise<readonly Finding[]> {
  const ends = new ChildEnds();
  const gateway = createEmbeddedGateway(loaded, credentials.certificate !== undefined, ends.log, credentials.egress);
  // Children are ended before the process is.
  stop.addEventListener('abort', () => void gateway.close());
  try {
    const [started, ...more] = await runChecks([{ name: 'gateway', run: () => start(gateway) }], clock, timeout_ms, stop);
    if (started?.verdict !== 'ok' || more.length > 0) return started === undefined ? more : [started, ...more];
    const checks = loaded.config.routes.map((route) => checkRoute(route, loaded, gateway.url, credentials, clock, timeout_ms));
    const visited = await runChecks(checks, clock, 3 * timeout_ms, stop);
    const { runtimes } = loaded.config;
    const eras = await checkEras(() => gateway.status().runtimes, runtimes, clock, stop);
    return [started, ...ends.findings(runtimes), ...visited, ...eras];
  } finally {
    await gateway.close();
  }
}

async function start(gateway: ReturnType<typeof createEmbeddedGateway>): Promise<readonly Finding[]> {
  try {
    await gateway.start();
    return [ok('gateway', 'gates and runtimes open')];
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map((problem) => fail('gateway', `${placeOf(problem)}: ${problem.message}`, 'Correct it in the config.'));
    throw error;
  }
}

function checkRoute(
  route: RouteConfig,
  loaded: LoadedConfig,
  base: string,
  credentials: Credentials,
  clock: Clock,
  timeout_ms: number,
): Check {
  const { path } = route;
  const { certificate } = credentials;
  const name = `route ${path}`;
  const kind = loaded.config.runtimes[route.runtime]?.kind;
  return {
    name,
    async run(signal) {
      if (kind === 'http') return [await checkPlain(name, base + path, signal)];
      const endpoint: CheckedEndpoint = {
        name,
        url: base + path,
        resource: routeUrl(route, publicUrl(loaded.config)),
        document: `${base}${WELL_KNOWN}${path === '/' ? '' : path}`,
        ca: undefined,
        token: credentials.token,
        headers: credentials.headers,
        added: certificate === undefined ? {} : pairs(terminatorHeaders(loaded.config, certificate)),
      };
      return checkEndpoint(endpoint, clock, timeout_ms, signal);
    },
  };
}

/** Everything that can be asked at one endpoint. */
export async function checkEndpoint(
  endpoint: CheckedEndpoint,
  clock: Clock,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { findings, open } = await checkChallenge(endpoint, signal);
  if (findings.some(({ verdict }) => verdict === 'fail')) return findings;
  const eras = await Promise.all((['modern', 'legacy'] as const).map((era) => shakeHands(endpoint, era, open, clock, timeout_ms, signal)));
  if (eras.every(({ message }) => message.endsWith('does not speak this era')))
    return [
      ...findings,
      fail(`${endpoint.name} handshake`, 'the server behind speaks MCP in neither era', 'Look at the URL or command of its runtime.'),
    ];
  return [...findings, ...eras];
}

async function checkPlain(name: string, url: string, signal: AbortSignal): Promise<Finding> {
  const { status } = await runHttpCheck(url, {}, signal);
  if (status < 500) return ok(name, `plain HTTP answers ${status}`);
  return fail(name, `plain HTTP answers ${status}`, 'Look at the service behind; the log of the gateway says more.');
}

function pairs(flat: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? '']] : [])));
}
