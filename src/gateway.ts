import { builtins } from '../gates/index.js';
import { announce } from './assembly/announce.js';
import { openAudit } from './assembly/audit.js';
import { tellDecisions } from './assembly/denials.js';
import { declareGauges } from './assembly/gauges.js';
import { createRouting } from './assembly/routing.js';
import { createRuntimes, type Runtimes } from './assembly/runtimes.js';
import { statusOf } from './assembly/status.js';
import { tlsSettings, watchTls } from './assembly/tls.js';
import { boundUrl, routeUrl } from './assembly/urls.js';
import type { LoadedConfig } from './config/load.js';
import type { Clock, Timer } from './contract/clock.js';
import type { Log } from './contract/log.js';
import { readClaims } from './dialect/claims.js';
import { type ChainInput, type ChainSet, openChains } from './gate-chain/load.js';
import type { DrainResult } from './listener/drain.js';
import { createOps, type Ops } from './listener/ops.js';
import { Listener } from './listener/server.js';
import { systemClock } from './system-clock.js';
import type { ProcessView } from './telemetry/process-metrics.js';
import { createPrometheus } from './telemetry/prometheus.js';
import { createRefusalLog } from './telemetry/refusal-log.js';
import { version } from './version.js';

export interface GatewayParts {
  readonly log: Log;
  readonly clock?: Clock;
  /** Where `telemetry.audit.file: "-"` goes. */
  readonly stdout?: NodeJS.WritableStream;
  /** CPU, memory and version of the process, for the metrics. */
  readonly process?: ProcessView;
}

/** A running gateway. Built bottom-up by `start`, ended top-down by `close`. */
export interface Gateway {
  /** Binds, opens gates and runtimes, then serves. Rejects with the system's bind error or a ConfigError; then all is closed again. */
  start(): Promise<void>;
  /** The base URL that is bound, e.g. `http://127.0.0.1:8080`. Empty before `start`. */
  readonly url: string;
  /** The base URL of the ops listener; undefined when it is off. */
  readonly ops_url: string | undefined;
  /** Takes the gateway out of service without losing a request (wire.md section 5), then closes it. Safe to call twice. */
  drain(): Promise<DrainResult>;
  /** Ends everything now. */
  close(): Promise<void>;
  /** Resolves once the gateway is closed, whoever asked for it. */
  readonly closed: Promise<void>;
}

/** Puts a loaded config to work. */
export function assembleGateway(loaded: LoadedConfig, parts: GatewayParts): Gateway {
  const { config, folder } = loaded;
  const { limits } = config.listener;
  const { log } = parts;
  const clock = parts.clock ?? systemClock;
  const abort = new AbortController();
  const prometheus = createPrometheus({ version, clock, ...(parts.process === undefined ? {} : { process: parts.process }) });
  const { metrics, telemetry } = prometheus;
  const audit = openAudit(config, { clock, log, metrics, stdout: parts.stdout });
  const told = tellDecisions(createRefusalLog(log, clock), audit, log);
  const tls = tlsSettings(config);
  const { trusted_proxies, allowed_origins, allowed_hosts, cors, keep_alive } = config.listener;
  const chunked = config.listener.chunked_requests === 'accept';
  const listener = new Listener(
    { limits, trusted_proxies, allowed_origins, allowed_hosts, cors, keep_alive, chunked, tls },
    { clock, log, telemetry, readClaims: (headers, method) => readClaims(headers, method, 'defer'), ...told },
  );
  let url = '';
  let public_url = '';
  let ops: Ops | undefined;
  let ops_url: string | undefined;
  let chains: ChainSet | undefined;
  let runtimes: Runtimes | undefined;
  let renewal: Timer | undefined;
  let started = false;
  let closing: Promise<void> | undefined;
  const { promise: closed, resolve: tellClosed } = withResolvers();

  const start = async (): Promise<void> => {
    try {
      const bound = await listener.listen(config.listener.host, config.listener.port);
      url = boundUrl(config, bound);
      public_url = config.listener.public_url ?? url;
      runtimes = createRuntimes(config, { log, clock, telemetry });
      for (const runtime of runtimes.all) await runtime.start(abort.signal);
      chains = await openChains(chainInput(loaded, public_url), { builtins, log, metrics, telemetry, clock, signal: abort.signal, folder });
      declareGauges(metrics, listener, runtimes);
      if (config.ops.enabled) {
        ops = createOps(config.ops, opsView(runtimes));
        ops_url = await ops.start();
      }
      listener.open({ table: createRouting(config, public_url, chains, runtimes), listenerChain: chains.listener, public_url });
      renewal = watchTls(config, clock, log, (settings) => listener.renewTls(settings));
      started = true;
      announce(log, config, version, url, public_url, ops_url, loaded.warnings);
    } catch (error) {
      await close();
      throw error;
    }
  };

  const opsView = (live: Runtimes) => ({
    ready: () => {
      const state = listener.drain.state;
      return { ready: started && state === 'serving', reason: started ? state : 'starting' };
    },
    started: () => started,
    status: () => statusOf(config, public_url, version, listener, live),
    render: (accept: string | undefined) => prometheus.render(accept),
    drain: () => void drain(),
  });

  const drain = async (): Promise<DrainResult> => {
    const result = await listener.drain.begin();
    await close();
    return result;
  };

  const close = (): Promise<void> => {
    closing ??= shut().finally(tellClosed);
    return closing;
  };

  const shut = async (): Promise<void> => {
    renewal?.cancel();
    if (listener.drain.state !== 'closed') listener.drain.killNow();
    await Promise.all((runtimes?.all ?? []).map((runtime) => runtime.close(CLOSE_MS)));
    await chains?.close();
    abort.abort();
    await audit?.close(CLOSE_MS);
    await ops?.close();
    prometheus.close();
  };

  return {
    start,
    drain,
    close,
    closed,
    get url() {
      return url;
    },
    get ops_url() {
      return ops_url;
    },
  };
}

/** What the parts below the listener get to end after it has drained. */
const CLOSE_MS = 2000;

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** The gates' share of a config. */
export function chainInput({ config }: LoadedConfig, public_url: string): ChainInput {
  return {
    gates: config.gates,
    listener_gates: config.listener.gates,
    routes: config.routes.map((route) => ({
      path: route.path,
      url: routeUrl(route, public_url),
      runtime: route.runtime,
      gates: route.gates,
      public: route.public,
    })),
    gate_timeout_ms: config.listener.limits.gate_timeout_ms,
    public_url,
  };
}
