/** One metric as docs/metrics.md shows it. */
export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in the base unit; histograms only. */
  readonly buckets?: readonly number[];
  /** True for names that other tools define; they carry no `portcullis_` prefix. */
  readonly foreign?: true;
}

/** Upper bounds of the OpenTelemetry MCP operation histograms, seconds. */
const OPERATION_BUCKETS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** Upper bounds of a gate metric that declares none, seconds. */
export const DEFAULT_BUCKETS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const GATE_BUCKETS = [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 10];
const OVERHEAD_BUCKETS = [0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25];
const CONNECT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STREAM_BUCKETS = [1, 5, 15, 60, 300, 900, 3600, 14400, 43200, 86400];
const DRAIN_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const REQUEST_LABELS = ['route', 'mcp_method', 'era', 'outcome'];
const OPERATION_LABELS = ['mcp_method_name', 'gen_ai_tool_name', 'error_type', 'mcp_protocol_version', 'network_transport'];

const counter = (help: string, ...labels: readonly string[]): MetricRow => ({ type: 'counter', help, labels });
const gauge = (help: string, ...labels: readonly string[]): MetricRow => ({ type: 'gauge', help, labels });
const histogram = (help: string, buckets: readonly number[], ...labels: readonly string[]): MetricRow => ({
  type: 'histogram',
  help,
  labels,
  buckets,
});
const foreign = (row: MetricRow): MetricRow => ({ ...row, foreign: true });

/** Every metric of the gateway: the single source of what is exported and of docs/metrics.md. */
export const METRICS = {
  connections: gauge('Open client connections by state: head, gate, body, running, streaming or idle.', 'state'),
  connections_refused_total: counter('Client connections closed unread, because of the limit or the drain.', 'reason'),
  heads_refused_total: counter('Requests refused because of their head or body framing and timing, by error code.', 'reason'),
  gate_decisions_total: counter('Gate decisions; code is the refusal code, or none.', 'route', 'gate', 'decision', 'code'),
  gate_duration_seconds: histogram('Time a gate took to decide.', GATE_BUCKETS, 'gate'),
  requests_total: counter('Requests that reached a route; a JSON-RPC error inside HTTP 200 counts as an error.', ...REQUEST_LABELS),
  request_duration_seconds: histogram('From the complete head to the end of the answer.', OPERATION_BUCKETS, ...REQUEST_LABELS),
  overhead_seconds: histogram('Time spent in the gateway itself, the runtime excluded.', OVERHEAD_BUCKETS, 'route'),
  requests_in_flight: gauge('Requests not yet answered.', 'route'),
  streams: gauge('Open event streams.', 'route', 'kind'),
  streams_opened_total: counter('Event streams opened.', 'route', 'kind'),
  streams_closed_total: counter('Event streams closed, by reason.', 'route', 'kind', 'reason'),
  streams_refused_total: counter('Event streams refused, because of the limit or the drain.', 'route', 'reason'),
  callers_limited_total: counter(
    'Callers that reached their limit: a call waited for other calls of its caller (wait), or a call or a stream was refused. Callers are not named.',
    'route',
    'kind',
  ),
  stream_duration_seconds: histogram('How long an event stream was open.', STREAM_BUCKETS, 'route', 'kind'),
  stream_events_total: counter('Events written to event streams.', 'route', 'kind'),
  stream_buffer_bytes: gauge('Bytes queued for readers of event streams.', 'route', 'kind'),
  jwks_fetches_total: counter('Fetches of an issuer’s signing keys.', 'issuer', 'outcome'),
  jwks_age_seconds: gauge('Age of the signing keys in use.', 'issuer'),
  jwks_keys: gauge('Signing keys in use.', 'issuer'),
  runtime_state: gauge('1 for the state a runtime is in: starting, ready, degraded or stopped.', 'runtime', 'state'),
  executor_running: gauge('Running calls of a hosted server.', 'runtime'),
  executor_queued: gauge('Calls of a hosted server that wait for their turn.', 'runtime'),
  executor_abandoned: gauge('Abandoned calls of a hosted server whose handlers are still running.', 'runtime'),
  executor_rejected_total: counter('Calls of a hosted server that its executor refused or abandoned, by reason.', 'runtime', 'reason'),
  runtime_restarts_total: counter(
    'MCP server processes that ended unexpectedly or were unusable, by reason: spawn, exit, crash, signal, stdin, stdout or timeout.',
    'runtime',
    'reason',
  ),
  runtime_children: gauge('MCP server processes of a runtime, including those that are exiting.', 'runtime'),
  runtime_child_rss_bytes: gauge('Resident memory of the child processes of a runtime and their descendants.', 'runtime'),
  runtime_sessions: gauge('Legacy sessions held by a runtime.', 'runtime'),
  runtime_pending: gauge('Unanswered requests to the MCP servers of a runtime.', 'runtime'),
  runtime_junk_total: counter(
    'Lines of MCP servers that were dropped: no_message, too_long, unknown_id, late or unheard.',
    'runtime',
    'reason',
  ),
  upstream_requests_total: counter('Answers of an upstream by status class; error means there was no answer.', 'runtime', 'code_class'),
  upstream_connect_seconds: histogram('Time to open a connection to an upstream.', CONNECT_BUCKETS, 'runtime'),
  upstream_connections: gauge('Connections and requests in an upstream pool: free, running, pending or queued.', 'runtime', 'state'),
  upstream_era: gauge(
    '1 for the protocol era that the server was found to speak, 0 for the other; none while it is not known.',
    'runtime',
    'era',
  ),
  era_probes_total: counter(
    'Questions to a server for the revisions that it serves, by outcome: modern, legacy or inconclusive.',
    'runtime',
    'outcome',
  ),
  era_flips_total: counter('Changes of the era that a server speaks.', 'runtime'),
  bridged_calls_total: counter(
    'Requests that were served in the other protocol era than their client’s, by direction (to_legacy, to_modern) and outcome.',
    'route',
    'direction',
    'outcome',
  ),
  bridged_sessions: gauge(
    'Sessions of legacy clients on modern servers of which this process keeps a log level, subscriptions or a stream.',
    'runtime',
  ),
  bridge_sessions: gauge('Sessions that the gateway holds on legacy servers for modern clients.', 'runtime'),
  bridge_sessions_ended_total: counter(
    'Such sessions that ended, by reason: idle, evicted, lost (by the server), drain, failed (the server opened none), or flip (the server speaks another era).',
    'runtime',
    'reason',
  ),
  held_calls: gauge('Calls of modern clients that wait, without their client, for the answer to a question of a legacy server.', 'runtime'),
  held_ended_total: counter(
    'Such waits that ended, by reason: answered, expired (the client did not come back), finished (the server ended the call) or drain.',
    'runtime',
    'reason',
  ),
  held_seconds: histogram('How long a call of a modern client waited for its client.', STREAM_BUCKETS, 'runtime'),
  questions_total: counter(
    'Questions of servers to clients of the other protocol era, by method and outcome: answered, declined, refused (the client cannot be asked), unattributed (no call could be meant), expired or error.',
    'route',
    'mcp_method',
    'outcome',
  ),
  questions_refused_total: counter(
    'Requests of MCP servers to their clients, such as elicitation/create, that the gateway refused or dropped because no client could be asked.',
    'runtime',
    'mcp_method',
  ),
  tasks_refused_total: counter('Task ids in requests that were refused: forged, or given to another caller or by another route.', 'route'),
  config_reloads_total: counter('Config reloads by outcome: succeeded or failed.', 'outcome'),
  config_last_reload_success: gauge('1 when the last reload, or the start, applied the config; 0 when it was refused.'),
  drain_state: gauge('0 serving, 1 draining, 2 closing, 3 closed.'),
  drain_remaining: gauge('Connections that a drain is still waiting for; 0 while serving.'),
  drain_killed_total: counter(
    'Requests and streams still open at the end of a drain, which were killed. held: calls that waited for a client’s answer.',
    'kind',
  ),
  drain_duration_seconds: histogram('How long a drain took.', DRAIN_BUCKETS),
  trace_spans_exported_total: counter('Spans accepted by the collector.'),
  trace_spans_dropped_total: counter(
    'Spans lost, by reason: queue_full, collector (it failed or was unreachable), rejected (by the collector) or shutdown.',
    'reason',
  ),
  audit_dropped_total: counter('Audit lines lost because the sink was slow or failed.'),
  collect_failures_total: counter('Gauge collectors that failed during a scrape; their samples are missing.', 'metric'),
  build_info: gauge('Always 1; the labels say which build runs on which Node.', 'version', 'node'),
  mcp_server_operation_duration_seconds: foreign(
    histogram(
      'OpenTelemetry mcp.server.operation.duration: an MCP operation as the client sees it.',
      OPERATION_BUCKETS,
      ...OPERATION_LABELS,
    ),
  ),
  mcp_client_operation_duration_seconds: foreign(
    histogram(
      'OpenTelemetry mcp.client.operation.duration: the same operation at the upstream MCP server.',
      OPERATION_BUCKETS,
      ...OPERATION_LABELS,
    ),
  ),
  process_cpu_seconds_total: foreign(counter('User and system CPU time of the process.')),
  process_resident_memory_bytes: foreign(gauge('Resident memory of the process.')),
  process_start_time_seconds: foreign(gauge('Start of the process, seconds since the epoch.')),
  nodejs_heap_used_bytes: foreign(gauge('JavaScript heap in use.')),
  nodejs_heap_limit_bytes: foreign(gauge('Size the JavaScript heap may grow to.')),
  nodejs_external_memory_bytes: foreign(gauge('Memory of buffers and other objects outside the JavaScript heap.')),
  nodejs_eventloop_delay_seconds: foreign(gauge('How late the event loop was since the last scrape.', 'percentile')),
  nodejs_eventloop_busy_seconds_total: foreign(counter('Time the event loop spent in callbacks; its rate is the utilization.')),
  nodejs_gc_duration_seconds_total: foreign(counter('Time spent in garbage collection.', 'kind')),
} as const satisfies Readonly<Record<string, MetricRow>>;

export type MetricName = keyof typeof METRICS;

/** The row of a name of the table; undefined for any other name, inherited ones such as `constructor` included. */
export function metricRow(name: string): MetricRow | undefined {
  return Object.hasOwn(METRICS, name) ? METRICS[name as MetricName] : undefined;
}

/** The name on /metrics of a row of the table. */
export function exportedName(name: MetricName): string {
  return metricRow(name)?.foreign === true ? name : `portcullis_${name}`;
}
