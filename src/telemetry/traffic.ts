import type { RequestRecord, Telemetry } from '../contract/telemetry.js';
import type { Catalog } from './catalog.js';
import { Bounded, type CounterCell, type Family, type HistogramCell, isLabelText, observe } from './family.js';
import {
  BRIDGE_DIRECTIONS,
  CODE_CLASSES,
  END_REASONS,
  ERA_OUTCOMES,
  ERAS,
  HELD_ENDS,
  KILL_KINDS,
  LIMIT_REASONS,
  LIMITED_KINDS,
  METHODS,
  OUTCOMES,
  positions,
  QUESTION_OUTCOMES,
  QUESTIONS,
  REVISIONS,
  RPC_CODES,
  SESSION_ENDS,
  STREAM_KINDS,
  VERDICTS,
} from './label-values.js';

/** Tools of one route that are counted by name. */
const MAX_TOOLS = 200;
const MAX_ROUTES = 1_000;
/** No error, then each JSON-RPC code, then the outcomes that have none. */
const ERRORS: readonly string[] = ['', ...RPC_CODES, ...OUTCOMES.filter((outcome) => outcome !== 'ok')];

/** Routes, runtimes and gates come from the config; the bound only backs that up. */
const MAX_NAMES = 1_000;
/** Refusal codes counted by name for one gate, and reasons for which heads are refused. */
const MAX_CODES = 64;

/**
 * Counts traffic. A call is a few map lookups by short strings, an array index and additions: nothing is allocated once a
 * combination of labels has been seen. Every label value comes from a closed set or a bounded map.
 */
export function createTraffic(catalog: Catalog): Telemetry {
  const refused = cells(catalog.counterFamily('connections_refused_total'), LIMIT_REASONS);
  const killed = cells(catalog.counterFamily('drain_killed_total'), KILL_KINDS);
  const drained = catalog.histogramFamily('drain_duration_seconds').at([]);
  const heads = byName(MAX_CODES, catalog.counterFamily('heads_refused_total'));
  const gates = gateCells(catalog);
  const requests = requestCells(catalog);
  const streams = streamCells(catalog);
  const refusals = new Bounded(MAX_NAMES, (route) => cells(catalog.counterFamily('streams_refused_total'), LIMIT_REASONS, route));
  const limited = new Bounded(MAX_NAMES, (route) => cells(catalog.counterFamily('callers_limited_total'), LIMITED_KINDS, route));
  const answers = new Bounded(MAX_NAMES, (runtime) => cells(catalog.counterFamily('upstream_requests_total'), CODE_CLASSES, runtime));
  const questions = new Bounded(MAX_NAMES, (runtime) => cells(catalog.counterFamily('questions_refused_total'), QUESTIONS, runtime));
  const probes = new Bounded(MAX_NAMES, (runtime) => cells(catalog.counterFamily('era_probes_total'), ERA_OUTCOMES, runtime));
  const bridged = new Bounded(MAX_NAMES, (route) =>
    indexed(BRIDGE_DIRECTIONS, (direction) => cells(catalog.counterFamily('bridged_calls_total'), OUTCOMES, route, direction)),
  );
  const flips = byName(MAX_NAMES, catalog.counterFamily('era_flips_total'));
  const sessions = new Bounded(MAX_NAMES, (runtime) => cells(catalog.counterFamily('bridge_sessions_ended_total'), SESSION_ENDS, runtime));
  const tasks = byName(MAX_NAMES, catalog.counterFamily('tasks_refused_total'));
  const held = new Bounded(MAX_NAMES, (runtime) => cells(catalog.counterFamily('held_ended_total'), HELD_ENDS, runtime));
  const waits = byName(MAX_NAMES, catalog.histogramFamily('held_seconds'));
  const asked = new Bounded(MAX_NAMES, (route) =>
    indexed(QUESTIONS, (method) => cells(catalog.counterFamily('questions_total'), QUESTION_OUTCOMES, route, method)),
  );
  const connects = byName(MAX_NAMES, catalog.histogramFamily('upstream_connect_seconds'));
  const operations = createOperations(catalog);

  return {
    connectionRefused: (reason) => void (refused(reason).value += 1),
    headRefused: (reason) => void (heads.get(reason).value += 1),
    gateDecided(route, gate, verdict, code, seconds) {
      const cell = gates.get(gate);
      observe(cell.seconds, seconds);
      cell.routes.get(route).get(code)(verdict).value += 1;
    },
    requestEnded(record) {
      const cell = requests.get(record.route);
      observe(cell.overhead, record.overhead_seconds);
      const { total, seconds } = cell.at(record);
      total.value += 1;
      observe(seconds, record.seconds, record.trace?.exemplar);
      if (record.bridged !== undefined) bridged.get(record.route)(record.bridged)(record.outcome).value += 1;
      operations.ended(record);
    },
    streamOpened: (route, kind) => void (streams.get(route)(kind).opened.value += 1),
    streamEvents: (route, kind, count) => void (streams.get(route)(kind).events.value += count),
    streamClosed(route, kind, reason, seconds) {
      const cell = streams.get(route)(kind);
      cell.closed(reason).value += 1;
      observe(cell.seconds, seconds);
    },
    streamRefused: (route, reason) => void (refusals.get(route)(reason).value += 1),
    callerLimited: (route, kind) => void (limited.get(route)(kind).value += 1),
    upstreamAnswered: (runtime, codeClass) => void (answers.get(runtime)(codeClass).value += 1),
    questionRefused: (runtime, method) => void (questions.get(runtime)(method).value += 1),
    eraProbed: (runtime, outcome) => void (probes.get(runtime)(outcome).value += 1),
    eraFlipped: (runtime) => void (flips.get(runtime).value += 1),
    bridgeSessionEnded: (runtime, reason) => void (sessions.get(runtime)(reason).value += 1),
    taskRefused: (route) => void (tasks.get(route).value += 1),
    heldCallEnded(runtime, reason, seconds) {
      held.get(runtime)(reason).value += 1;
      observe(waits.get(runtime), seconds);
    },
    questionEnded: (route, method, outcome) => void (asked.get(route)(method)(outcome).value += 1),
    upstreamConnected: (runtime, seconds) => observe(connects.get(runtime), seconds),
    toolsListed: operations.toolsListed,
    drainKilled: (kind, count) => void (killed(kind).value += count),
    drained: (seconds) => observe(drained, seconds),
  };
}

/** The cells of a family whose last label is the closed set, earlier labels being fixed. Made when first counted. */
function cells<C>(family: Family<C>, set: readonly string[], ...fixed: readonly string[]): (value: string) => C {
  return indexed(set, (value) => family.at([...fixed, value]));
}

function indexed<V>(set: readonly string[], make: (value: string) => V): (value: string) => V {
  const position = positions(set);
  const made: (V | undefined)[] = set.map(() => undefined);
  return (value) => {
    const at = position(value);
    return (made[at] ??= make(set[at] as string));
  };
}

function byName<C>(limit: number, family: Family<C>): Bounded<C> {
  return new Bounded(limit, (name) => family.at([name]));
}

function gateCells(catalog: Catalog) {
  const decisions = catalog.counterFamily('gate_decisions_total');
  const duration = catalog.histogramFamily('gate_duration_seconds');
  return new Bounded(MAX_NAMES, (gate) => ({
    seconds: duration.at([gate]),
    routes: new Bounded(
      MAX_NAMES,
      (route) =>
        new Bounded(MAX_CODES, (code) => indexed(VERDICTS, (verdict) => decisions.at([route, gate, verdict, code === '' ? 'none' : code]))),
    ),
  }));
}

interface RequestCell {
  readonly total: CounterCell;
  readonly seconds: HistogramCell;
}

function requestCells(catalog: Catalog) {
  const total = catalog.counterFamily('requests_total');
  const duration = catalog.histogramFamily('request_duration_seconds');
  const overhead = catalog.histogramFamily('overhead_seconds');
  const method = positions(METHODS);
  const era = positions(ERAS);
  const outcome = positions(OUTCOMES);
  return new Bounded(MAX_NAMES, (route) => {
    const made: (RequestCell | undefined)[] = new Array(METHODS.length * ERAS.length * OUTCOMES.length).fill(undefined);
    return {
      overhead: overhead.at([route]),
      at(record: RequestRecord): RequestCell {
        const [m, e, o] = [methodPosition(method, record.method), era(record.era), outcome(record.outcome)];
        const at = (m * ERAS.length + e) * OUTCOMES.length + o;
        const known = made[at];
        if (known !== undefined) return known;
        const values = [route, METHODS[m] as string, ERAS[e] as string, OUTCOMES[o] as string];
        return (made[at] = { total: total.at(values), seconds: duration.at(values) });
      },
    };
  });
}

function methodPosition(position: (value: string) => number, method: string): number {
  return method === '' ? 1 : position(method);
}

function streamCells(catalog: Catalog) {
  const opened = catalog.counterFamily('streams_opened_total');
  const closed = catalog.counterFamily('streams_closed_total');
  const events = catalog.counterFamily('stream_events_total');
  const duration = catalog.histogramFamily('stream_duration_seconds');
  return new Bounded(MAX_NAMES, (route) =>
    indexed(STREAM_KINDS, (kind) => ({
      opened: opened.at([route, kind]),
      events: events.at([route, kind]),
      seconds: duration.at([route, kind]),
      closed: cells(closed, END_REASONS, route, kind),
    })),
  );
}

interface OperationCell {
  readonly labels: readonly string[];
  readonly server: HistogramCell;
  /** Made when first counted: an operation that never reached a server shows no zero. */
  client: HistogramCell | undefined;
}

type OperationCells = Map<number, OperationCell>;

interface Operations {
  ended(record: RequestRecord): void;
  toolsListed(route: string, names: readonly string[]): void;
}

/**
 * The OpenTelemetry MCP operation histograms. A tool is named only after the server behind the route listed it, 200 a route;
 * `error_type` is a known JSON-RPC code, `tool_error`, or the outcome of a request that ended without one.
 */
function createOperations(catalog: Catalog): Operations {
  const server = catalog.histogramFamily('mcp_server_operation_duration_seconds');
  const client = catalog.histogramFamily('mcp_client_operation_duration_seconds');
  const method = positions(METHODS);
  const revision = positions(REVISIONS);
  const errors = new Map(ERRORS.map((error, index) => [error, index]));
  const codes = new Map(RPC_CODES.map((code) => [Number(code), errors.get(code) as number]));
  const other = errors.get('other') as number;
  const errorPosition = (record: RequestRecord): number => {
    if (record.outcome === 'ok') return 0;
    if (record.outcome !== 'tool_error' && record.rpc_code !== undefined) return codes.get(record.rpc_code) ?? other;
    return errors.get(record.outcome) ?? other;
  };
  const cellAt = (tool: string, m: number, e: number, r: number): OperationCell => {
    const labels = [METHODS[m] as string, tool, ERRORS[e] as string, REVISIONS[r] as string, 'tcp'];
    return { labels, server: server.at(labels), client: undefined };
  };
  const routes = new Bounded(MAX_ROUTES, () => new Map<string, OperationCells>([['other', new Map()]]));
  const untooled: OperationCells = new Map();

  return {
    ended(record) {
      if (record.method === '') return;
      const m = method(record.method);
      const e = errorPosition(record);
      const r = revision(record.revision);
      const at = (m * ERRORS.length + e) * REVISIONS.length + r;
      let cells = untooled;
      let tool = '';
      if (record.tool !== undefined && record.method === 'tools/call') {
        const tools = routes.get(record.route);
        tool = tools.has(record.tool) ? record.tool : 'other';
        cells = tools.get(tool) ?? untooled;
      }
      let cell = cells.get(at);
      if (cell === undefined) cells.set(at, (cell = cellAt(tool, m, e, r)));
      observe(cell.server, record.seconds, record.trace?.exemplar);
      const behind = record.seconds - record.overhead_seconds;
      if (behind > 0) observe((cell.client ??= client.at(cell.labels)), behind);
    },
    toolsListed(route, names) {
      const tools = routes.get(route);
      for (const name of names) {
        if (tools.size > MAX_TOOLS) return;
        if (name !== '' && isLabelText(name) && !tools.has(name)) tools.set(name, new Map());
      }
    },
  };
}
