import type { RequestRecord } from '../contract/telemetry.js';
import type { Catalog } from './catalog.js';
import { Bounded, type HistogramCell, isLabelText, observe } from './family.js';
import { METHODS, OUTCOMES, positions, REVISIONS, RPC_CODES } from './label-values.js';

/** Tools of one route that are counted by name. */
const MAX_TOOLS = 200;
const MAX_ROUTES = 1_000;

/** No error, then each JSON-RPC code, then the outcomes that have none. */
const ERRORS: readonly string[] = ['', ...RPC_CODES, ...OUTCOMES.filter((outcome) => outcome !== 'ok')];

interface OperationCell {
  readonly labels: readonly string[];
  readonly server: HistogramCell;
  /** Made when first counted: an operation that never reached a server shows no zero. */
  client: HistogramCell | undefined;
}

type OperationCells = Map<number, OperationCell>;

export interface Operations {
  ended(record: RequestRecord): void;
  toolsListed(route: string, names: readonly string[]): void;
}

/**
 * The OpenTelemetry MCP operation histograms. A tool is named only after the server behind the route listed it, 200 a route;
 * `error_type` is a known JSON-RPC code, `tool_error`, or the outcome of a request that ended without one.
 */
export function createOperations(catalog: Catalog): Operations {
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
