// Opens the gate as the gateway does (schema, defaults, freeze) and asks it about heads, without a server.
import { Ajv } from 'ajv';
import type { GateContext, GateDecision, GateHost, Peer, PeerTls, RequestGate, RequestHead } from 'portcullis/gate';
import { gate } from '../../../gates/mtls/gate.js';
import type { MtlsOptions } from '../../../gates/mtls/options.js';

const ajv = new Ajv({ useDefaults: true, allErrors: true });
const validate = ajv.compile(JSON.parse(JSON.stringify(gate.options)));

export const NOW = Date.parse('2026-06-01T00:00:00Z');

export interface Opened {
  readonly gate: RequestGate;
  /** Milliseconds since the epoch as the gate sees them. */
  now_ms: number;
  /** Identity header lines that were ignored. */
  ignored: number;
  readonly logged: string[];
  /** Runs the intervals that are not cancelled. */
  tick(): void;
  decide(headers: readonly string[], peer?: Partial<Peer>): GateDecision;
}

/** Options after the schema: an Error lists what is wrong. */
export function checkOptions(options: object): MtlsOptions {
  const copy = structuredClone(options) as MtlsOptions;
  if (!validate(copy)) throw new Error(ajv.errorsText(validate.errors, { dataVar: 'options' }));
  return copy;
}

export async function open(options: object, folder = '/'): Promise<Opened> {
  const intervals = new Set<() => void>();
  const opened: { -readonly [K in keyof Opened]: Opened[K] } = {
    gate: undefined as never,
    now_ms: NOW,
    ignored: 0,
    logged: [],
    tick: () => intervals.forEach((run) => run()),
    decide: (headers, peer) => opened.gate.decide(head(headers, peer), CONTEXT) as GateDecision,
  };
  const say = (_fields: unknown, message: string) => void opened.logged.push(message);
  const host = {
    name: 'cert',
    folder,
    signal: new AbortController().signal,
    route: ROUTE,
    log: { debug: say, info: say, warn: say, error: say, child: () => host.log },
    metrics: {
      counter: (name: string) => ({ add: (_labels: unknown, count = 1) => void (name === 'identity_headers_ignored_total' && (opened.ignored += count)) }),
      histogram: () => ({ observe() {} }),
      gauge: () => () => {},
    },
    clock: {
      now_ms: () => opened.now_ms,
      mono_ms: () => 0,
      timer: () => ({ cancel() {} }),
      interval(_period_ms: number, run: () => void) {
        intervals.add(run);
        return { cancel: () => void intervals.delete(run) };
      },
    },
    shared: <T>(_key: string, create: () => T) => create(),
  } as unknown as GateHost;
  opened.gate = await gate.open(checkOptions(options), host);
  return opened;
}

const ROUTE = { path: '/mcp', url: 'https://mcp.example.com/mcp', runtime: 'files' };
const CONTEXT: GateContext = { identity: undefined, facts: {}, route: ROUTE, signal: new AbortController().signal };

/** A head with raw header lines; the peer is a trusted proxy unless said otherwise. */
export function head(raw: readonly string[], peer: Partial<Peer> = {}): RequestHead {
  const all = (name: string) => raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
  return {
    id: 'r1',
    method: 'POST',
    path: '/mcp',
    query: '',
    headers: { raw, all, get: (name) => (all(name).length === 1 ? all(name)[0] : undefined) },
    peer: { address: '127.0.0.1', trusted: true, client_address: '127.0.0.1', tls: undefined, ...peer },
    claims: { era: 'modern', revision: '2026-07-28', declared: true, method: 'tools/list', name: undefined },
    received_at_ms: NOW,
  };
}

export const tls = (authorized: boolean, certificate: Uint8Array | undefined): { tls: PeerTls } => ({ tls: { authorized, certificate } });

/** The refusal's code, or the principal it identified, or `pass`. */
export function said(decision: GateDecision): string {
  if (decision.kind === 'refuse') return decision.code.replace('CLIENT_CERTIFICATE_', '');
  return decision.kind === 'identify' ? decision.identity.principal : decision.kind;
}
