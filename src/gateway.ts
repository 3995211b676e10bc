import { announce } from './assembly/announce.js';
import { openAudit } from './assembly/audit.js';
import { certificateProblems } from './assembly/certificates.js';
import { declareGauges } from './assembly/gauges.js';
import { type ReloadResult, Snapshots, tellReload } from './assembly/reload.js';
import type { Snapshot } from './assembly/snapshot.js';
import { tlsSettings, watchTls } from './assembly/tls.js';
import { configuredTracing, withTracing } from './assembly/tracing.js';
import { boundUrl } from './assembly/urls.js';
import type { LoadedConfig } from './config/load.js';
import { watchFile } from './config/watch.js';
import type { Clock, Timer } from './contract/clock.js';
import type { Log } from './contract/log.js';
import type { ProcessHost } from './contract/process-host.js';
import { ConfigError } from './errors/error.js';
import { explain } from './explain/explain.js';
import { SharedPool } from './gate-chain/shared.js';
import { createOps, type Ops, type OpsView } from './listener/ops.js';
import { Listener } from './listener/request/server.js';
import type { DrainResult } from './listener/socket/drain.js';
import { createPage } from './page/page.js';
import { tellDecisions, withAccessLog } from './status/denials.js';
import { Recent, withRecent } from './status/recent.js';
import { ReloadHistory } from './status/reload-history.js';
import { type Status, statusOf } from './status/status.js';
import { systemClock } from './system-clock.js';
import { systemProcess } from './system-process.js';
import type { ProcessView } from './telemetry/process-metrics.js';
import { createPrometheus } from './telemetry/prometheus.js';
import { createRefusalLog } from './telemetry/repeat-limit.js';
import { DIRECT, type TunnelEgress } from './upstream/egress.js';
import { version } from './version.js';

export interface GatewayParts {
  readonly log: Log;
  /** Takes denials, failed calls and access lines: they are written whatever the level of `log` is. Default: `log`. */
  readonly record?: Log;
  readonly clock?: Clock;
  /** Where `telemetry.audit.file: "-"` goes. */
  readonly stdout?: NodeJS.WritableStream;
  /** CPU, memory and version of the process, for the metrics. */
  readonly process?: ProcessView;
  /** Where child processes are run from. Default: this process. */
  readonly host?: ProcessHost;
  /** The way to issuers, gates' services, collectors and https upstreams. Default: directly. */
  readonly egress?: TunnelEgress;
  /** Reads the config for a reload; throws ConfigError. Absent: nothing can be reloaded. */
  readonly reread?: () => LoadedConfig | Promise<LoadedConfig>;
}

/** A running gateway. Built bottom-up by `start`, ended top-down by `close`. */
export interface Gateway {
  /** Binds, opens gates and runtimes, then serves. Rejects with the system's bind error, a ConfigError, or when it is closed meanwhile; then all is closed again. */
  start(): Promise<void>;
  /** The base URL that is bound, e.g. `http://127.0.0.1:8080`. Empty before `start`. */
  readonly url: string;
  /** The base URL of the ops listener; undefined when it is off. */
  readonly ops_url: string | undefined;
  /**
   * Reads the config again and swaps gates, routes and runtimes as one whole; requests and streams under way finish on the old
   * ones. Rejects with a ConfigError, and changes nothing, when the new config cannot be used.
   */
  reload(): Promise<ReloadResult>;
  /** Takes the gateway out of service without losing a request, then closes it. Safe to call twice. */
  drain(): Promise<DrainResult>;
  /** Ends everything now. */
  close(): Promise<void>;
  /** Resolves once the gateway is closed, for whatever reason. */
  readonly closed: Promise<void>;
}

/** A gateway with what the commands of this package read of it. */
export interface WatchedGateway extends Gateway {
  /** The live state. Throws before `start` has read the config. */
  status(): Status;
}

/** Puts a loaded config to work. Throws ConfigError when a certificate, key or CA cannot be used. */
export function assembleGateway(loaded: LoadedConfig, parts: GatewayParts): WatchedGateway {
  const { config } = loaded;
  const { limits, keep_alive } = config.listener;
  const { log, record = log, clock = systemClock, egress = DIRECT } = parts;
  const problems = certificateProblems(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const abort = new AbortController();
  const prometheus = createPrometheus({ version, clock, ...(parts.process === undefined ? {} : { process: parts.process }) });
  const { metrics } = prometheus;
  const current = () => snapshots.current?.loaded.config ?? config;
  const tracing = configuredTracing(config, { clock, log, metrics, version, egress, config: current });
  const counted = config.telemetry.log.access ? withAccessLog(prometheus.telemetry, record) : prometheus.telemetry;
  const telemetry = tracing === undefined ? counted : withTracing(counted);
  const audit = openAudit(config, { clock, log, metrics, stdout: parts.stdout });
  const recent = new Recent(clock);
  const decisions = tellDecisions(createRefusalLog(record, clock), audit, record);
  const told = config.ops.enabled ? withRecent(decisions, recent) : decisions;
  const listener = new Listener({ limits, keep_alive, tls: tlsSettings(config) }, { clock, log, telemetry, tracing, ...told });
  const shared = new SharedPool();
  const snapshots = new Snapshots(listener, {
    log,
    clock,
    telemetry,
    metrics,
    audit,
    shared,
    host: parts.host ?? systemProcess,
    egress,
    version,
    signal: abort.signal,
  });
  let url = '';
  let ops: Ops | undefined;
  let ops_url: string | undefined;
  const started_at_ms = clock.now_ms();
  const reloads = new ReloadHistory(clock);
  let drain_began: { readonly at_ms: number; readonly connections: number } | undefined;
  let renewal: Timer | undefined;
  let watcher: { close(): void } | undefined;
  let started = false;
  let closing: Promise<void> | undefined;
  const { promise: closed, resolve: tellClosed } = withResolvers();

  const start = async (): Promise<void> => {
    try {
      if (tracing !== undefined) {
        await tracing.open();
        mayGoOn();
      }
      url = boundUrl(config, await listener.listen(config.listener.host, config.listener.port));
      mayGoOn();
      const public_url = config.listener.public_url ?? url;
      await snapshots.start(loaded, public_url);
      declareGauges(metrics, listener, () => snapshots.current?.runtimes);
      if (config.ops.enabled) {
        ops = createOps(config.ops, opsView);
        ops_url = await ops.start();
      }
      mayGoOn();
      renewal = watchTls(config, clock, log, (settings) => listener.renewTls(settings));
      if (config.reload.watch && loaded.file !== undefined && parts.reread !== undefined) {
        watcher = watchFile(loaded.file, clock, () => void reload().catch(() => undefined));
      }
      started = true;
      announce(log, config, version, url, public_url, ops_url, loaded.warnings);
    } catch (error) {
      await close();
      // Nothing else holds a listener that was bound after a close during startup.
      listener.drain.killNow();
      await ops?.close();
      throw error;
    }
  };

  const mayGoOn = (): void => {
    if (closing !== undefined) throw new Error('the gateway was closed while it started');
  };

  const reload = async (): Promise<ReloadResult> => {
    const { reread } = parts;
    if (reread === undefined) throw new Error('this gateway received its config as an object, so it has no file to reload');
    return reloads.follow(() => reloadWith(reread));
  };

  const reloadWith = async (reread: NonNullable<GatewayParts['reread']>): Promise<ReloadResult> => {
    try {
      const next = await readAgain(reread, snapshots);
      const result = await snapshots.reload(next, url);
      tellReload(log, result, next.warnings);
      return result;
    } catch (error) {
      log.error(
        { error: String(error instanceof Error ? error.message : error) },
        'the config was not reloaded; the old one stays in force',
      );
      throw error;
    }
  };

  const ready: OpsView['ready'] = () => {
    const state = listener.drain.state;
    return { ready: started && state === 'serving', reason: started ? state : 'starting' };
  };

  const inForce = (): Snapshot => {
    if (snapshots.current === undefined) throw new Error('no config is in force yet');
    return snapshots.current;
  };

  const sources = {
    ...{ version, clock, listener, recent, reloads, started_at_ms, ready },
    samples: prometheus.samples,
    drain_began: () => drain_began,
  };

  const status = (): Status => statusOf(inForce(), sources);

  const opsView: OpsView = {
    ready,
    started: () => started,
    pages: createPage(config.ops, {
      clock,
      read: status,
      explain: (question) => explain(inForce().loaded, question, clock),
    }),
    render: (accept) => prometheus.render(accept),
    drain: () => void drain(),
    reload: parts.reread === undefined ? undefined : reload,
  };

  const drain = async (): Promise<DrainResult> => {
    drain_began ??= { at_ms: clock.now_ms(), connections: listener.drain.remaining };
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
    watcher?.close();
    listener.drain.killNow();
    await snapshots.close();
    abort.abort();
    await Promise.all([audit?.close(TELL_CLOSE_MS), tracing?.close(TELL_CLOSE_MS)]);
    await ops?.close();
    prometheus.close();
  };

  return {
    start,
    reload,
    drain,
    close,
    closed,
    status,
    get url() {
      return url;
    },
    get ops_url() {
      return ops_url;
    },
  };
}

/** Audit lines and spans that remain are written within this time. */
const TELL_CLOSE_MS = 2000;

async function readAgain(reread: NonNullable<GatewayParts['reread']>, snapshots: Snapshots): Promise<LoadedConfig> {
  try {
    return await reread();
  } catch (error) {
    snapshots.failed();
    throw error;
  }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
