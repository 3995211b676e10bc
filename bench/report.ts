import type { Measured, RequestTable } from './requests.js';
import type { StreamCost } from './streams.js';

export interface Findings {
  readonly requests: RequestTable;
  /** Calls between protocol eras, each beside one that is forwarded. */
  readonly between: { readonly to_legacy: RequestTable; readonly to_modern: RequestTable };
  readonly served: RequestTable;
  readonly bridged: RequestTable;
  readonly streams: StreamCost;
  /** What made the load. */
  readonly load: string;
}

/** Names of the rows that the goals speak of. */
export interface Names {
  readonly guarded: string;
  readonly open: string;
  readonly bare: string;
  readonly haproxy: string;
  readonly to_legacy: string;
  readonly legacy: string;
  readonly to_modern: string;
  readonly hosted: string;
  readonly sdk: string;
  readonly bridge: string;
  readonly mcp_proxy: string;
}

/** A goal, and whether it holds; undefined when a row that it needs was skipped. */
export interface Goal {
  readonly kind: 'must' | 'aim';
  readonly text: string;
  readonly found: string;
  readonly holds: boolean | undefined;
}

/** The requests as a Markdown table. */
export function requestTable({ measured }: RequestTable, bare_name: string): string {
  const bare = measured.find((row) => row.name === bare_name)?.cpu_us ?? Number.NaN;
  const head = ['row', 'CPU µs/request', 'ratio', 'p50 ms', 'p99 ms', 'requests/s', 'RSS MiB'];
  const lines = measured.map((row) => [
    row.name,
    row.cpu_us.toFixed(1),
    (row.cpu_us / bare).toFixed(2),
    (row.p50_us / 1000).toFixed(2),
    (row.p99_us / 1000).toFixed(2),
    row.per_second.toFixed(0),
    (row.rss_kib / 1024).toFixed(0),
  ]);
  return toTable([head, ...lines]);
}

/** What the product promises of its own cost. */
export function judge({ requests, between, served, bridged, streams }: Findings, names: Names): readonly Goal[] {
  const cpu = (name: string): number => own(requests, name);
  const ratio = cpu(names.guarded) / cpu(names.bare);
  const gates = cpu(names.guarded) - cpu(names.open);
  const ours = own(served, names.hosted);
  const fewer = own(served, names.sdk) / ours;
  const bridge = own(bridged, names.bridge) / own(bridged, names.mcp_proxy);
  const kib = streams.kib_per_stream;
  const to_legacy = own(between.to_legacy, names.to_legacy) / own(between.to_legacy, names.open);
  const to_modern = own(between.to_modern, names.to_modern) / own(between.to_modern, names.legacy);
  return [
    goal('must', `with gates at most 0.62 of bare ${names.bare}`, ratio, 0.62, ratio.toFixed(2)),
    {
      kind: 'must',
      text: 'hosted at least 7 times less than the SDK v2 handler',
      found: fewer.toFixed(1),
      holds: Number.isNaN(fewer) ? undefined : fewer >= 7,
    },
    goal('must', 'hosted at most 70 µs on a quiet core', ours, 70, ours.toFixed(1)),
    goal('aim', 'hosted at most 52 µs on a quiet core', ours, 52, ours.toFixed(1)),
    goal('must', `a bridge to stdio at most a quarter of ${names.mcp_proxy}`, bridge, 0.25, bridge.toFixed(2)),
    goal('must', 'a modern call on a legacy server at most 2.2 of a forwarded one', to_legacy, 2.2, to_legacy.toFixed(2)),
    goal('must', 'a legacy call on a modern server at most 2.2 of a forwarded one', to_modern, 2.2, to_modern.toFixed(2)),
    goal('must', 'at most 20 KiB for an idle stream', kib, 20, kib.toFixed(1)),
    goal('aim', `with gates at most 0.50 of bare ${names.bare}`, ratio, 0.5, ratio.toFixed(2)),
    goal(
      'aim',
      'no more than HAProxy that verifies each token',
      cpu(names.guarded),
      cpu(names.haproxy),
      `${cpu(names.guarded).toFixed(1)} : ${cpu(names.haproxy).toFixed(1)} µs`,
    ),
    goal('aim', 'a modern call on a legacy server at most 1.5 of a forwarded one', to_legacy, 1.5, to_legacy.toFixed(2)),
    goal('aim', 'a legacy call on a modern server at most 1.6 of a forwarded one', to_modern, 1.6, to_modern.toFixed(2)),
    goal('aim', 'gates at most 5 µs', gates, 5, gates.toFixed(1)),
    goal('aim', 'at most 15 KiB for an idle stream', kib, 15, kib.toFixed(1)),
  ];
}

function own({ measured }: RequestTable, name: string): number {
  return measured.find((row: Measured) => row.name === name)?.cpu_us ?? Number.NaN;
}

/** The goals as lines. */
export function goalLines(goals: readonly Goal[]): string {
  const lines = goals.map(({ kind, text, found, holds }) => [
    kind,
    text,
    found,
    holds === undefined ? 'not measured' : holds ? 'holds' : 'DOES NOT HOLD',
  ]);
  return toTable([['', 'goal', 'found', ''], ...lines]);
}

/** The streams in one sentence. */
export function streamLine({ streams, before_kib, after_kib, kib_per_stream }: StreamCost): string {
  const [before, after] = [before_kib, after_kib].map((kib) => (kib / 1024).toFixed(0));
  return `${streams} idle subscriptions through the guarded gateway: RSS ${before} MiB before, ${after} MiB with them, ${kib_per_stream.toFixed(1)} KiB a stream.`;
}

function goal(kind: Goal['kind'], text: string, value: number, most: number, found: string): Goal {
  const known = !Number.isNaN(value) && !Number.isNaN(most);
  return { kind, text, found: known ? found : '–', holds: known ? value <= most : undefined };
}

function toTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...rest] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}
